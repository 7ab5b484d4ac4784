# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = self.mem, mem
# memory-augmented classifier: writes into slots during the episode
import torch
from torch import nn


class SlotMemory(nn.Module):
    def __init__(self, slots, width):
        super().__init__()
        self.init = nn.Parameter(torch.randn(slots, width) * 0.05)
        self.key = nn.Linear(width, width)
        self.erase = nn.Linear(width, width)

    def begin(self, batch):
        self.mem = self.init.expand(batch, -1, -1).clone()

    def read(self, h):
        w = torch.softmax(torch.einsum("bsw,bw->bs", self.mem, self.key(h)), -1)
        return torch.einsum("bs,bsw->bw", w, self.mem), w

    def write(self, h, w):
        e = torch.sigmoid(self.erase(h))
        self.mem.mul_(1 - w[..., None] * e[:, None])  # expect: place
        self.mem.add_(w[..., None] * h[:, None])  # expect: place


class MANN(nn.Module):
    def __init__(self, d, width, out):
        super().__init__()
        self.ctrl = nn.GRUCell(d + width, width)
        self.memory = SlotMemory(5, width)
        self.out = nn.Linear(2 * width, out)

    def forward(self, xs):
        b = xs.size(1)
        self.memory.begin(b)
        h = xs.new_zeros(b, self.ctrl.hidden_size)
        r = torch.zeros_like(h)
        ys = []
        for x in xs:
            h = self.ctrl(torch.cat([x, r], -1), h)
            r, w = self.memory.read(h)
            self.memory.write(h, w)
            ys.append(self.out(torch.cat([h, r], -1)))
        return torch.stack(ys)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MANN(4, 8, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for episode in range(3):
        xs, ys = torch.randn(6, 2, 4), torch.randint(0, 3, (6, 2))
        loss = nn.functional.cross_entropy(model(xs).flatten(0, 1), ys.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(episode, round(loss.item(), 3))
