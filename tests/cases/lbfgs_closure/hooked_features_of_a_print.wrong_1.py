"""Sharpening a slide scan until its features have the spectrum of the original print."""
import torch
import torch.nn.functional as F
from torch import nn


class Features:
    """What chosen layers of a network say, by their names."""

    def __init__(self, net, *names):
        self.heard = {}
        for name in names:
            net.get_submodule(name).register_forward_hook(self._hook(name))

    def _hook(self, name):
        def keep(module, inputs, output):
            self.heard[name] = output

        return keep

    def spectrum(self):
        return {name: out.pow(2).mean((2, 3)) for name, out in self.heard.items()}


def sharpen(net, print_, scan, rounds=3):
    features = Features(net, "0", "2")
    with torch.no_grad():
        net(print_)
        wanted = features.spectrum()
    optimizer = torch.optim.LBFGS([scan], lr=0.4, max_iter=4)

    def evaluate():
        optimizer.zero_grad()
        found = features.spectrum()
        error = sum(F.mse_loss(found[name], wanted[name]) for name in wanted)
        error.backward(retain_graph=True)
        return error

    for _ in range(rounds):
        scan.data.clamp_(0, 1)
        net(scan)
        print("error", round(float(optimizer.step(evaluate)), 6))


torch.manual_seed(5)
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.Tanh(), nn.Conv2d(6, 6, 3, padding=1))
net.requires_grad_(False)
original = torch.rand(1, 1, 12, 12)
sharpen(net, original, nn.Parameter(F.avg_pool2d(original, 3, 1, 1)))
