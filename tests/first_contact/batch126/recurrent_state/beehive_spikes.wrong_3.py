"""Spiking classifier: does a beehive want to swarm? Sound bands in, two classes out."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)


class Fire(torch.autograd.Function):
    @staticmethod
    def forward(ctx, over):
        ctx.save_for_backward(over)
        return (over > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (over,) = ctx.saved_tensors
        return grad / (1 + 5 * over.abs()) ** 2


class Leaky(nn.Module):
    def __init__(self, keep=0.8):
        super().__init__()
        self.keep = keep
        self.v = 0.0

    def restart(self):
        self.v = self.v.detach() if torch.is_tensor(self.v) else 0.0

    def forward(self, current):
        charge = self.keep * self.v + current
        spike = Fire.apply(charge - 1.0)
        self.v = charge * (1.0 - spike)
        return spike


class HiveNet(nn.Module):
    def __init__(self, bands=12, hidden=20):
        super().__init__()
        self.ear = nn.Sequential(nn.Linear(bands, hidden), Leaky(), nn.Linear(hidden, hidden), Leaky())
        self.pool = nn.Linear(hidden, hidden)
        self.last = Leaky(keep=0.9)
        self.vote = nn.Linear(hidden, 2)

    def forward(self, sound):
        return sum(self.vote(self.last(self.pool(self.ear(frame)))) for frame in sound.unbind(1)) / sound.size(1)


def restart(net):
    for child in net.modules():
        if isinstance(child, Leaky):
            child.restart()


def recordings(count=192, frames=8, bands=12):
    swarm = torch.randint(0, 2, (count,))
    sound = torch.rand(count, frames, bands)
    sound[swarm == 1, :, 3:6] += 0.8
    return TensorDataset(sound, swarm)


def main():
    net = HiveNet()
    loader = DataLoader(recordings(), batch_size=32, shuffle=True)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(3):
        total = 0.0
        for sound, swarm in loader:
            restart(net)
            loss = F.cross_entropy(net(sound), swarm)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, round(total / len(loader), 4))


main()
