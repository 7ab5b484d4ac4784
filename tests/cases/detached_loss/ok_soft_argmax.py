# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn
import torch.nn.functional as F


class SpatialSoftArgmax(nn.Module):
    def forward(self, heat):
        b, c, h, w = heat.shape
        p = heat.flatten(2).softmax(-1).view(b, c, h, w)
        ys, xs = torch.linspace(-1, 1, h), torch.linspace(-1, 1, w)
        return torch.stack([(p.sum(3) * ys).sum(-1), (p.sum(2) * xs).sum(-1)], -1)


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Keypoints(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.gate = nn.Parameter(torch.zeros(3, 2))
        self.read = SpatialSoftArgmax()

    def forward(self, x):
        kp = self.read(self.conv(x))
        keep = F.gumbel_softmax(self.gate, tau=1.0, hard=True)[:, 0]
        return RoundSTE.apply(kp * 8) / 8 * keep[None, :, None]


torch.manual_seed(0)
net = Keypoints()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(4):
    img = torch.rand(4, 1, 10, 10)
    target = torch.rand(4, 3, 2) * 2 - 1
    pred = net(img)
    loss = F.mse_loss(pred, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    chosen = net.gate.argmax(-1).tolist()
    print(step, loss.item(), chosen)
