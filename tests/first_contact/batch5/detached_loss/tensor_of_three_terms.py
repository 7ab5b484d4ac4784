# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss, terms
"""Denoise a seismogram by optimising it directly against three penalties."""
import torch


def penalties(trace, seen):
    fit = (trace - seen).pow(2).mean()
    jump = trace.diff().abs().mean()
    drift = trace.mean().pow(2)
    return [fit, jump, drift]


def main():
    torch.manual_seed(33)
    t = torch.linspace(0, 4, 200)
    seen = torch.sin(6 * t) * torch.exp(-t) + 0.2 * torch.randn(200)
    trace = seen.clone().requires_grad_()
    weights = torch.tensor([1.0, 0.4, 0.1])
    opt = torch.optim.Adam([trace], lr=0.02)
    for k in range(15):
        opt.zero_grad()
        terms = torch.tensor(penalties(trace, seen))  # expect: place
        loss = (weights * terms).sum()
        loss.backward()  # expect: place
        opt.step()
    print(terms.tolist())


main()
