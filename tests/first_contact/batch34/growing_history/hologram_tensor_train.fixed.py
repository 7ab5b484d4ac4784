"""Compress a smooth 4-way array (a light field, here synthetic) into tensor-train format by gradient descent.

    fit(target, ranks, tol) -> cores, history
"""
from __future__ import annotations

import time

import torch


def tt_full(cores: list[torch.Tensor]) -> torch.Tensor:
    """Contract the train back into a full array."""
    out = cores[0]
    for core in cores[1:]:
        out = torch.tensordot(out, core, dims=([out.dim() - 1], [0]))
    return out.squeeze(0).squeeze(-1)


def random_cores(shape, rank: int, generator=None) -> list[torch.Tensor]:
    ranks = [1] + [rank] * (len(shape) - 1) + [1]
    cores = []
    for k, n in enumerate(shape):
        core = torch.randn(ranks[k], n, ranks[k + 1], generator=generator) / (rank ** 0.5)
        core.requires_grad_()
        cores.append(core)
    return cores


def smoothness(cores: list[torch.Tensor]) -> torch.Tensor:
    return sum((core[:, 1:] - core[:, :-1]).pow(2).mean() for core in cores)


def fit(target: torch.Tensor, rank: int = 3, tol: float = 1e-5, max_iter: int = 30, lr: float = 2e-2, verbose=True):
    cores = random_cores(target.shape, rank)
    optimizer = torch.optim.Adam(cores, lr=lr)
    scale = target.norm()
    history = []
    start = time.time()
    for it in range(max_iter):
        optimizer.zero_grad()
        error = (tt_full(cores) - target).norm() / scale
        loss = error ** 2 + 1e-3 * smoothness(cores)
        loss.backward()
        optimizer.step()
        history.append(loss.item())

        if verbose and it % 10 == 0:
            print(f"iter {it:4d} | loss {history[-1]:.5f} | {time.time() - start:.2f} s")
        if len(history) > 10 and abs(history[-10] - history[-1]) < tol * history[-10]:
            print("converged at", it)
            break
    return [c.detach() for c in cores], history


def light_field(shape=(6, 6, 8, 8)) -> torch.Tensor:
    axes = torch.meshgrid(*[torch.linspace(0, 1, n) for n in shape], indexing="ij")
    u, v, s, t = axes
    return torch.sin(3 * (s + 0.3 * u)) * torch.cos(2 * (t + 0.3 * v)) + 0.2 * u * v


if __name__ == "__main__":
    torch.manual_seed(4)
    field = light_field()
    for rank in (2, 3):
        cores, loss_history = fit(field, rank)
        stored = sum(c.numel() for c in cores)
        print(f"rank {rank}: {stored} of {field.numel()} numbers, best {min(loss_history):.5f}")
