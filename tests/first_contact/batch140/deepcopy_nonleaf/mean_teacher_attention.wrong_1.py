"""Mean-teacher for heartbeat classification: supervised warm-up, then consistency training."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionPool(nn.Module):
    """Weighted mean over time; keeps the weights for plots and for the sparsity penalty."""

    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.attn = None

    def forward(self, h):
        weights = F.softmax(self.score(torch.tanh(h)).squeeze(-1), dim=1)
        self.attn = weights.detach()
        return (weights.unsqueeze(-1) * h).sum(dim=1)


class BeatClassifier(nn.Module):
    def __init__(self, n_leads=2, hidden=16, n_classes=4):
        super().__init__()
        self.conv = nn.Conv1d(n_leads, hidden, kernel_size=5, padding=2)
        self.pool = AttentionPool(hidden)
        self.head = nn.Linear(hidden, n_classes)

    def forward(self, x):
        h = F.relu(self.conv(x)).transpose(1, 2)
        return self.head(self.pool(h))


def attention_entropy(attn):
    return -(attn * torch.log(attn + 1e-8)).sum(dim=1).mean()


def make_beats(n, length=40):
    y = torch.randint(0, 4, (n,))
    t = torch.linspace(0, 6.28, length)
    wave = torch.sin(t[None, :] * (y[:, None] + 1).float())
    x = torch.stack([wave, wave.roll(3, dims=1)], dim=1)
    return x + 0.3 * torch.randn_like(x), y


def supervised_loss(model, x, y, lam=0.05):
    logits = model(x)
    return F.cross_entropy(logits, y) + lam * attention_entropy(model.pool.attn)


def warm_up(model, optimizer, x, y, steps=6):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = supervised_loss(model, x, y)
        loss.backward()
        optimizer.step()
    print(f"warm-up done, loss {loss.item():.4f}")


def make_teacher(student):
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher


@torch.no_grad()
def update_teacher(teacher, student, alpha=0.95):
    for pt, ps in zip(teacher.parameters(), student.parameters()):
        pt.mul_(alpha).add_(ps, alpha=1 - alpha)


def consistency_loss(student, teacher, x):
    noisy = x + 0.1 * torch.randn_like(x)
    with torch.no_grad():
        target = F.softmax(teacher(x), dim=1)
    return F.mse_loss(F.softmax(student(noisy), dim=1), target)


def main():
    torch.manual_seed(11)
    x_lab, y_lab = make_beats(24)
    x_unlab, _ = make_beats(48)
    student = BeatClassifier()
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)

    warm_up(student, optimizer, x_lab, y_lab)
    teacher = make_teacher(student)

    for step in range(8):
        optimizer.zero_grad()
        loss = supervised_loss(student, x_lab, y_lab)
        loss = loss + 2.0 * consistency_loss(student, teacher, x_unlab)
        loss.backward()
        optimizer.step()
        update_teacher(teacher, student)
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
