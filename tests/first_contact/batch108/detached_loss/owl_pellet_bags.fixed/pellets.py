"""Owl pellets: each holds a varying number of bones, and the label is known of the pellet alone."""
import torch


def pellet(gen, vole):
    bones = int(torch.randint(4, 12, (1,), generator=gen))
    shape = torch.randn(bones, 10, generator=gen)
    if vole:
        marked = torch.rand(bones, generator=gen) < 0.4
        marked[0] = True
        shape[marked] += torch.linspace(1.5, -1.5, 10)
    return shape


def collection(count, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.rand(count, generator=gen) < 0.5
    return [(pellet(gen, bool(vole)), float(vole)) for vole in labels]
