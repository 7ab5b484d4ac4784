# expect: pattern = none
"""A cellular automaton learns to grow a coral outline from one seed cell. Grown states go back into a pool
and are grown further in later batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS, SIZE = 8, 14


class Automaton(nn.Module):
    def __init__(self, n=CHANNELS, hidden=24):
        super().__init__()
        ident = torch.zeros(3, 3)
        ident[1, 1] = 1.0
        sobel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 8
        self.register_buffer("kernel", torch.stack([ident, sobel, sobel.T]).repeat(n, 1, 1).unsqueeze(1))
        self.fc0 = nn.Conv2d(3 * n, hidden, 1)
        self.fc1 = nn.Conv2d(hidden, n, 1, bias=False)
        nn.init.zeros_(self.fc1.weight)
        self.n = n

    def alive(self, x):
        return F.max_pool2d(x[:, 3:4], 3, stride=1, padding=1) > 0.1

    def forward(self, x, fire_rate=0.5):
        before = self.alive(x)
        y = F.conv2d(x, self.kernel, padding=1, groups=self.n)
        dx = self.fc1(F.relu_(self.fc0(y)))
        dx *= (torch.rand(x.size(0), 1, SIZE, SIZE) <= fire_rate).float()
        x = x + dx
        return x * (before & self.alive(x)).float()


def seed(n):
    x = torch.zeros(n, CHANNELS, SIZE, SIZE)
    x[:, 3:, SIZE // 2, SIZE // 2] = 1.0
    return x


class SamplePool:
    def __init__(self, size):
        self.x = seed(size)

    def sample(self, n):
        idx = torch.randperm(self.x.size(0))[:n]
        return idx, self.x[idx]

    def commit(self, idx, x):
        self.x[idx] = x.detach()


def coral():
    a = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(a, a, indexing="ij")
    angle, radius = torch.atan2(yy, xx), (xx ** 2 + yy ** 2).sqrt()
    body = (radius < 0.5 + 0.25 * torch.cos(5 * angle)).float()
    return torch.stack([body, 0.4 * body, 0.3 * body, body])


def main():
    torch.manual_seed(17)
    ca, target, pool = Automaton(), coral(), SamplePool(32)
    opt = torch.optim.Adam(ca.parameters(), lr=2e-3)
    for it in range(8):
        idx, x = pool.sample(4)
        with torch.no_grad():
            worst = (x[:, :4] - target).pow(2).mean((1, 2, 3)).argmax()
            x[worst] = seed(1)[0]
        loss_log = 0
        for _ in range(int(torch.randint(6, 10, ()))):
            x = ca(x)
            loss_log += x.detach().abs().mean()
        loss = F.mse_loss(x[:, :4], target.expand(4, -1, -1, -1))
        opt.zero_grad()
        loss.backward()
        for p in ca.parameters():
            p.grad /= p.grad.norm() + 1e-8
        opt.step()
        pool.commit(idx, x)
        print(it, f"{loss.item():.4f} mean activity {loss_log.item():.3f}")


if __name__ == "__main__":
    main()
