"""Few-shot calibration of lithium cells: from eight early cycles of a new cell to its fade."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class FadeNet(nn.Module):
    def __init__(self, n_features=5, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 1)

    def forward(self, cycles):
        return self.out(self.body(cycles)).squeeze(-1)


class CellBench:
    """Fabricated cells: each one has its own temperature and stress response."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def cell(self, n_support=8, n_query=16):
        gain, phase = self.rng.uniform(0.5, 2.0), self.rng.uniform(-1.0, 1.0)
        cycles = self.rng.normal(size=(n_support + n_query, 5)).astype(np.float32)
        fade = gain * np.sin(cycles[:, 0] + phase) + 0.3 * cycles[:, 1] * cycles[:, 2]
        fade = (fade + 0.02 * self.rng.normal(size=fade.shape)).astype(np.float32)
        cycles, fade = torch.from_numpy(cycles), torch.from_numpy(fade)
        return (cycles[:n_support], fade[:n_support]), (cycles[n_support:], fade[n_support:])


class Calibrator:
    def __init__(self, bench, inner_lr=0.05, inner_steps=3, outer_lr=2e-3):
        self.bench = bench
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.shared = FadeNet()
        self.optimizer = torch.optim.Adam(self.shared.parameters(), lr=outer_lr)

    def adapt(self, cycles, fade):
        """A net for one cell: a few plain gradient steps away from the shared one."""
        learner = dict(self.shared.named_parameters())
        for _ in range(self.inner_steps):
            error = F.mse_loss(functional_call(self.shared, learner, (cycles,)), fade)
            grads = torch.autograd.grad(error, list(learner.values()), create_graph=True)
            moved = [weight - self.inner_lr * grad for weight, grad in zip(learner.values(), grads)]
            learner = dict(zip(learner, moved))
        return learner

    def outer_step(self, n_cells):
        total = 0.0
        for _ in range(n_cells):
            support, (cycles, fade) = self.bench.cell()
            adapted = self.adapt(*support)
            total = total + F.mse_loss(functional_call(self.shared, adapted, (cycles,)), fade)
        query_error = total / n_cells
        self.optimizer.zero_grad()
        query_error.backward()
        self.optimizer.step()
        return query_error.item()


def main():
    torch.manual_seed(11)
    calibrator = Calibrator(CellBench(seed=4))
    window = []
    for step in range(40):
        window.append(calibrator.outer_step(n_cells=3))
        if step % 20 == 19:
            print(f"step {step + 1:3d}  query error {np.mean(window[-20:]):.4f}")


if __name__ == "__main__":
    main()
