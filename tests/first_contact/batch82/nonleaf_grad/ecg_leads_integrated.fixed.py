"""Which leads of an ECG does the classifier lean on? Integrated gradients, fed back as lead dropout.

After each epoch the leads are ranked by their attribution, and the next epoch drops the favourites
more often, so that the net does not hang on one electrode.
"""
import torch
import torch.nn.functional as F
from torch import nn

LEADS, SAMPLES = 6, 20


class LeadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(LEADS, 8, 5, padding=2)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(torch.relu(self.conv(x)).mean(-1))


def beats(count):
    ill = torch.randint(0, 2, (count,))
    at = torch.linspace(-1, 1, SAMPLES)
    wave = torch.exp(-(at / 0.2) ** 2) * (1 + ill.float()).view(-1, 1, 1)
    strength = torch.linspace(1.0, 0.1, LEADS).view(1, -1, 1)
    return wave * strength + 0.3 * torch.randn(count, LEADS, SAMPLES), ill


class IntegratedGradients:
    def __init__(self, net, baseline, parts=8):
        self.net, self.baseline, self.parts = net, baseline, parts

    def points(self, x):
        x = x.clone()
        for k in range(1, self.parts + 1):
            yield (self.baseline + k / self.parts * (x - self.baseline)).requires_grad_()

    def __call__(self, x, target):
        total = torch.zeros_like(x)
        for point in self.points(x):
            score = self.net(point).gather(1, target[:, None]).sum()
            score.backward()
            total += point.grad
        return total / self.parts * (x - self.baseline)


def lead_shares(net, x, y):
    attributed = IntegratedGradients(net, torch.zeros_like(x))(x, y)
    weight = attributed.abs().mean(dim=(0, 2))
    return weight / weight.sum()


def drop_leads(x, shares):
    keep = torch.rand(len(x), LEADS) > shares
    return x * keep.unsqueeze(-1)


def main():
    torch.manual_seed(41)
    net = LeadNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    shares = torch.zeros(LEADS)
    probe_x, probe_y = beats(16)
    for epoch in range(4):
        for _ in range(6):
            x, y = beats(32)
            opt.zero_grad()
            loss = F.cross_entropy(net(drop_leads(x, shares)), y)
            loss.backward()
            opt.step()
        shares = lead_shares(net, probe_x, probe_y)
        print(epoch, round(loss.item(), 4), [round(s, 2) for s in shares.tolist()])


main()
