# expect: pattern = none
# expect: raises = nothing
"""Two readings of one outline. The losses are walked one by one, because the norm of each head's gradient is logged."""
import torch
from torch import nn


class ShellNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(30, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.depth, self.site = nn.Linear(width, 1), nn.Linear(width, 4)

    def forward(self, outline):
        z = self.trunk(outline)
        return self.depth(z).squeeze(1), self.site(z)


def trunk_norm(model):
    return sum(p.grad.square().sum() for p in model.trunk.parameters()).sqrt().item()


torch.manual_seed(26)
model = ShellNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
rules = torch.randn(30, 5)
log = []
for step in range(12):
    outline = torch.randn(48, 30)
    truth = outline @ rules / 5
    depth, site = model(outline)
    loss_depth = nn.functional.smooth_l1_loss(depth, truth[:, 0])
    loss_site = nn.functional.cross_entropy(site, truth[:, 1:].argmax(1))

    optimizer.zero_grad()
    loss_depth.backward(retain_graph=True)
    alone = trunk_norm(model)
    loss_site.backward()  # adds to the gradients of the depth loss
    log.append((alone, trunk_norm(model)))
    optimizer.step()
    print(step, round(loss_depth.item(), 4), round(loss_site.item(), 4), [round(v, 3) for v in log[-1]])
