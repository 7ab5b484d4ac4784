"""A neural cellular automaton that grows a cushion of moss from one spore, with a sample pool."""
import torch
import torch.nn.functional as F
from torch import nn

CHANNELS = 8
SIZE = 12


def spore(n):
    seed = torch.zeros(n, CHANNELS, SIZE, SIZE)
    seed[:, 0, SIZE // 2, SIZE // 2] = 1.0
    return seed


def cushion():
    y, x = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    body = ((x / 0.8) ** 2 + (y / 0.5) ** 2 < 1).float()
    return torch.stack([body, body * (0.5 + 0.5 * x)])


class Moss(nn.Module):
    def __init__(self, channels=CHANNELS, hidden=24, fire_rate=0.5):
        super().__init__()
        self.fire_rate = fire_rate
        self.perceive = nn.Conv2d(channels, 3 * channels, 3, padding=1, groups=channels, bias=False)
        self.rule = nn.Sequential(nn.Conv2d(3 * channels, hidden, 1), nn.ReLU(), nn.Conv2d(hidden, channels, 1))
        nn.init.normal_(self.rule[-1].weight, std=0.02)
        nn.init.zeros_(self.rule[-1].bias)

    @staticmethod
    def alive(grid):
        return F.max_pool2d(grid[:, :1], 3, stride=1, padding=1) > 0.1

    def forward(self, grid, steps):
        for _ in range(steps):
            before = self.alive(grid)
            fire = (torch.rand_like(grid[:, :1]) < self.fire_rate).float()
            delta = self.rule(self.perceive(grid.detach().clone()))
            grid += delta * fire * before
        return grid


class Pool:
    def __init__(self, size):
        self.cells = spore(size)
        self.score = torch.full((size,), float("inf"))

    def draw(self, n):
        index = torch.randperm(len(self.cells))[:n]
        worst = index[self.score[index].argmax()]
        self.cells[worst] = spore(1)[0]
        return index, self.cells[index]

    def put(self, index, grown, score):
        self.cells[index] = grown.detach()
        self.score[index] = score


def main():
    torch.manual_seed(5)
    moss, pool, target = Moss(), Pool(24), cushion()
    optimizer = torch.optim.Adam(moss.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [20], 0.3)
    for it in range(30):
        index, batch = pool.draw(6)
        steps = int(torch.randint(6, 10, ()))
        grown = moss(batch, steps)
        per_sample = ((grown[:, :2] - target) ** 2).mean(dim=(1, 2, 3))
        loss = per_sample.mean()
        optimizer.zero_grad()
        loss.backward()
        for p in moss.parameters():
            p.grad /= p.grad.norm() + 1e-8
        optimizer.step()
        scheduler.step()
        pool.put(index, grown, per_sample.detach())
        if it % 5 == 0:
            print(f"{it:3d} steps {steps} loss {loss.item():.5f}")
    with torch.no_grad():
        final = moss(spore(1), 24)[0, 0]
    print("\n".join("".join("#" if v > 0.5 else "." for v in row) for row in final.tolist()))


if __name__ == "__main__":
    main()
