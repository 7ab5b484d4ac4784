# expect: pattern = none
# Two layers keep their states under their names; what cuts them takes any tree of tensors.
import torch


def cut(tree):
    if torch.is_tensor(tree):
        return tree.detach()
    if isinstance(tree, dict):
        return {name: cut(part) for name, part in tree.items()}
    return tuple(cut(part) for part in tree)


class Drift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slow = torch.nn.GRUCell(3, 8)
        self.fast = torch.nn.LSTMCell(8, 8)
        self.out = torch.nn.Linear(8, 1)

    def forward(self, ticks, held):
        for tick in ticks.unbind(1):
            held["slow"] = self.slow(tick, held["slow"])
            held["fast"] = self.fast(held["slow"], held["fast"])
        return self.out(held["fast"][0]), held


torch.manual_seed(2)
drift = Drift()
optimizer = torch.optim.Adam(drift.parameters())
zeros = torch.zeros(4, 8)
held = {"slow": zeros, "fast": (zeros, zeros)}
for window in torch.randn(6, 4, 5, 3):
    held = cut(held)
    guess, held = drift(window, held)
    optimizer.zero_grad()
    guess.pow(2).mean().backward()
    optimizer.step()
