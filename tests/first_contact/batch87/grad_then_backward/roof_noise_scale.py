# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss_a, losses[0], losses, loss
"""Solar panels on roof tiles, with the gradient noise scale watched to choose the batch size.

The noise scale compares the gradient of half of a batch with that of the whole batch.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class NoiseScale:
    """Running estimate of tr(S) / |G|^2 from gradients of two batch sizes."""

    def __init__(self, params, small, big, decay=0.8):
        self.params = list(params)
        self.small, self.big, self.decay = small, big, decay
        self.s = self.g2 = None
        self._half = None

    @staticmethod
    def _square(grads):
        return sum(g.pow(2).sum().item() for g in grads)

    def measure_small(self, loss_a):
        grads = torch.autograd.grad(loss_a, self.params)  # expect: place
        self._half = self._square(grads)

    def measure_big(self):
        if self._half is None:
            return
        whole = self._square(p.grad for p in self.params)
        g2 = (self.big * whole - self.small * self._half) / (self.big - self.small)
        s = (self._half - whole) / (1 / self.small - 1 / self.big)
        mix = lambda old, new: new if old is None else self.decay * old + (1 - self.decay) * new
        self.g2, self.s = mix(self.g2, g2), mix(self.s, s)
        self._half = None

    @property
    def value(self):
        return float("nan") if not self.g2 else self.s / self.g2


class TileNet(nn.Module):
    def __init__(self, ch=6):
        super(TileNet, self).__init__()
        self.conv1 = nn.Conv2d(3, ch, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1)
        self.fc = nn.Linear(2 * ch, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.fc(x.amax(dim=(2, 3))).squeeze(1)


def tiles(n, size=16):
    img = 0.4 + 0.2 * torch.rand(n, 3, size, size)
    has = torch.rand(n) < 0.5
    for k in torch.nonzero(has).flatten().tolist():
        r, c = torch.randint(0, size - 6, (2,)).tolist()
        img[k, :2, r:r + 5, c:c + 6] -= 0.45
    return img, has.float()


def train(batch=24, steps=50, every=5):
    net = TileNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    meter = NoiseScale(net.parameters(), batch // 2, batch)
    began = time.perf_counter()
    for step in range(1, steps + 1):
        img, has = tiles(batch)
        halves = zip(net(img).chunk(2), has.chunk(2))
        losses = [F.binary_cross_entropy_with_logits(out, want) for out, want in halves]  # expect: place
        optimizer.zero_grad()
        watching = step % every == 0
        if watching:
            meter.measure_small(losses[0])  # expect: place
        loss = sum(losses) / len(losses)  # expect: place
        loss.backward()  # expect: place
        if watching:
            meter.measure_big()
            print("step %3d  loss %.4f  noise scale %8.2f" % (step, loss.item(), meter.value))
        optimizer.step()
    print("%.0f tiles/s" % (steps * batch / (time.perf_counter() - began)))
    return net


if __name__ == "__main__":
    torch.manual_seed(2018)
    net = train()
    with torch.no_grad():
        img, has = tiles(100)
        print("right: %.2f" % ((net(img) > 0).float() == has).float().mean().item())
