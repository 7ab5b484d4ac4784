"""Fine-grained orchids: the card holds 6 pictures, the step wants 24. Two losses, a schedule and a slow copy."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

MICRO, WINDOW = 6, 4


class OrchidNet(nn.Module):
    def __init__(self, species=7):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.block = nn.Sequential(
            nn.Conv2d(12, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.ReLU(inplace=True), nn.Conv2d(12, 12, 3, padding=1)
        )
        self.embed = nn.Linear(12, 16)
        self.species = nn.Linear(16, species)

    def forward(self, x):
        x = self.stem(x)
        x = F.relu(x + self.block(x))
        z = self.embed(x.mean((2, 3)))
        return self.species(F.relu(z)), F.normalize(z, dim=1)


def centre_loss(z, label):
    """Pull pictures of one species of the micro-batch together."""
    same = (label[:, None] == label[None]).float()
    same.fill_diagonal_(0.0)
    return ((1 - z @ z.t()) * same).sum() / same.sum().clamp(min=1.0)


def pictures(n, tint):
    label = torch.randint(0, len(tint), (n,))
    return tint[label][:, :, None, None] + 0.5 * torch.randn(n, 3, 12, 12), label


@torch.no_grad()
def follow(slow, net, decay=0.9):
    for a, b in zip(slow.state_dict().values(), net.state_dict().values()):
        a.mul_(decay).add_(b, alpha=1 - decay)


def main():
    torch.manual_seed(15)
    tint = torch.randn(7, 3)
    net = OrchidNet()
    slow = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
    images, labels = pictures(138, tint)            # 23 micro-batches: the last window is short
    starts = list(range(0, len(images), MICRO))
    for epoch in range(2):
        logged = {"ce": 0.0, "centre": 0.0}
        optimizer.zero_grad()
        for i, start in enumerate(starts):
            x, y = images[start:start + MICRO], labels[start:start + MICRO]
            logits, z = net(x)
            ce, centre = F.cross_entropy(logits, y), centre_loss(z, y)
            in_window = min(WINDOW, len(starts) - i // WINDOW * WINDOW)
            ((ce + 0.2 * centre) / in_window).backward()
            logged["ce"] += ce.item()
            logged["centre"] += centre.item()
            if (i + 1) % WINDOW == 0 or i + 1 == len(starts):
                optimizer.step()
                optimizer.zero_grad()
                follow(slow, net)
        scheduler.step()
        with torch.no_grad():
            right = (slow(images)[0].argmax(1) == labels).float().mean().item()
        print(epoch, {k: round(v / len(starts), 3) for k, v in logged.items()}, f"slow copy right {right:.2f}")


if __name__ == "__main__":
    main()
