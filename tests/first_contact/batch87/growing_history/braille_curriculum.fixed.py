"""Worn braille cells, read with a sampler that comes back to the hard ones more often."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class HardnessSampler:
    """Draws indices by a smoothed loss of each example, mixed with a uniform draw."""

    def __init__(self, n, momentum=0.7, temperature=0.5, uniform=0.2):
        self.difficulty = torch.zeros(n)
        self.seen = torch.zeros(n, dtype=torch.long)
        self.momentum = momentum
        self.temperature = temperature
        self.uniform = uniform

    def probabilities(self):
        hard = torch.softmax(self.difficulty / self.temperature, dim=0)
        return (1 - self.uniform) * hard + self.uniform / len(hard)

    def draw(self, k):
        return torch.multinomial(self.probabilities(), k, replacement=False)

    def report(self, index, losses):
        old = self.difficulty[index]
        fresh = torch.where(self.seen[index] == 0, losses, self.momentum * old + (1 - self.momentum) * losses)
        self.difficulty[index] = fresh
        self.seen[index] += 1

    def hardest(self, k=3):
        return self.difficulty.topk(k).indices.tolist()


class CellReader(nn.Module):
    def __init__(self, letters, ch=6):
        super().__init__()
        self.conv = nn.Conv2d(1, ch, 3, padding=1)
        self.fc1 = nn.Linear(ch * 6 * 4, 32)
        self.fc2 = nn.Linear(32, letters)

    def forward(self, x):
        x = torch.relu(self.conv(x)).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


def worn_cells(n, letters):
    patterns = (torch.rand(letters, 1, 3, 2) < 0.5).float()
    label = torch.randint(0, letters, (n,))
    wear = torch.rand(n, 1, 1, 1)
    dots = F.interpolate(patterns[label], scale_factor=2.0)
    return dots * (1 - 0.7 * wear) + 0.3 * torch.randn(n, 1, 6, 4), label


def main():
    torch.manual_seed(26)
    letters, n, batch, steps = 12, 200, 32, 60
    cells, label = worn_cells(n, letters)
    net = CellReader(letters)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    sampler = HardnessSampler(n)
    for step in range(1, steps + 1):
        index = sampler.draw(batch)
        losses = F.cross_entropy(net(cells[index]), label[index], reduction="none")
        opt.zero_grad()
        losses.mean().backward()
        opt.step()
        sampler.report(index, losses.detach())
        if step % 20 == 0:
            net.eval()
            with torch.no_grad():
                right = (net(cells).argmax(1) == label).float().mean().item()
            net.train()
            print(f"step {step}: batch loss {losses.mean().item():.3f}, right {right:.2f}, "
                  f"seen {int((sampler.seen > 0).sum())}, hardest {sampler.hardest()}")


if __name__ == "__main__":
    main()
