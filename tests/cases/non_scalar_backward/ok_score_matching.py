# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class ScoreNet(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 32), nn.Softplus(), nn.Linear(32, d))

    def forward(self, x):
        return self.net(x)


def sliced_score_matching(score, x, n=2):
    x = x.repeat(n, 1).requires_grad_()
    v = torch.randn_like(x)
    s = score(x)
    along, = torch.autograd.grad(s, x, grad_outputs=v, create_graph=True)
    return ((along * v).sum(1) + 0.5 * (s * v).sum(1).square()).mean()


torch.manual_seed(0)
net = ScoreNet(3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    batch = torch.randn(16, 3) * torch.tensor([1.0, 0.5, 2.0])
    loss = sliced_score_matching(net, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
