# expect: pattern = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fast
"""Few-shot potency prediction: meta-learn over assays, adapt on one plate, test on others.

Meta-SGD flavour: the inner step sizes are learned, one per parameter tensor.
"""
from collections import OrderedDict, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

Assay = namedtuple("Assay", "support plates")
FINGERPRINT = 24


def draw_assay(rng, n_support=12, n_plate=10, n_plates=3):
    """A target with its own hidden pharmacophore; plates differ by a small offset."""
    weights = torch.randn(FINGERPRINT, generator=rng) * (torch.rand(FINGERPRINT, generator=rng) < 0.3)
    shift = torch.randn(1, generator=rng)

    def plate(n, offset):
        x = (torch.rand(n, FINGERPRINT, generator=rng) < 0.4).float()
        y = torch.tanh(x @ weights * 0.5 + shift) + offset
        return x, y.unsqueeze(1)

    offsets = 0.1 * torch.randn(n_plates, generator=rng)
    return Assay(plate(n_support, 0.0), [plate(n_plate, o) for o in offsets])


def build_net():
    return nn.Sequential(OrderedDict(
        embed=nn.Linear(FINGERPRINT, 32), act=nn.ELU(), mix=nn.Linear(32, 16), act2=nn.ELU(), out=nn.Linear(16, 1),
    ))


def adapt(net, params, log_lrs, support, steps):
    x, y = support
    fast = dict(params)
    for _ in range(steps):
        loss = F.mse_loss(functional_call(net, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {
            name: value - log_lrs[name.replace(".", "_")].exp() * g
            for (name, value), g in zip(fast.items(), grads)
        }
    return fast


def meta_step(net, log_lrs, optimizer, assays, inner_steps=2):
    params = dict(net.named_parameters())
    optimizer.zero_grad()
    total = 0.0
    for assay in assays:
        fast = adapt(net, params, log_lrs, assay.support, inner_steps)  # expect: place
        for x, y in assay.plates:
            plate_loss = F.mse_loss(functional_call(net, fast, (x,)), y) / (len(assay.plates) * len(assays))
            plate_loss.backward()  # expect: place
            total += plate_loss.item()
    optimizer.step()
    return total


def main(meta_steps=40, assays_per_step=4):
    torch.manual_seed(9)
    rng = torch.Generator().manual_seed(10)
    net = build_net()
    log_lrs = nn.ParameterDict({
        name.replace(".", "_"): nn.Parameter(torch.tensor(0.05).log()) for name, _ in net.named_parameters()
    })
    optimizer = torch.optim.Adam([
        {"params": net.parameters(), "lr": 5e-3},
        {"params": log_lrs.parameters(), "lr": 2e-2},
    ])
    window = []
    for step in range(meta_steps):
        assays = [draw_assay(rng) for _ in range(assays_per_step)]
        window.append(meta_step(net, log_lrs, optimizer, assays))
        if step % 10 == 9:
            print("meta step %d   query mse %.3f" % (step + 1, sum(window) / len(window)))
            window.clear()
    print({k: round(v.exp().item(), 3) for k, v in log_lrs.items()})


if __name__ == "__main__":
    main()
