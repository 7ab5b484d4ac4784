# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rows, said, old_said
"""Glaze recipes fall into four families; the firings come kiln by kiln, never to be seen again."""
import torch
import torch.nn as nn

from learner import Learner, Settings

torch.manual_seed(5)
CENTRES = torch.randn(4, 9) * 1.5


def kiln(families, n=48):
    y = torch.tensor(families)[torch.randint(len(families), (n,))]
    return CENTRES[y] + torch.randn(n, 9), y


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


net = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 4))
learner = Learner(net, Settings())
held_out = kiln([0, 1, 2, 3], 80)
for number, families in enumerate([[0, 1], [1, 2], [2, 3]]):
    x, y = kiln(families)
    for xb, yb in zip(x.split(8), y.split(8)):
        loss = learner.observe(xb, yb)
    print(f"kiln {number}: loss {loss:.3f}, all families {accuracy(net, *held_out):.2f}")
