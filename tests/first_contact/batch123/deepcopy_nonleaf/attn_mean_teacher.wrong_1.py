"""Semi-supervised activity recognition: attention pooling, then a mean teacher after warm-up."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 7
N_LABELLED, N_UNLABELLED, LENGTH, SENSORS = 40, 120, 20, 3


class AttentionPool(nn.Module):
    """Weights for each time step; `attention` is for plots, `regularizer` keeps the heads apart."""

    def __init__(self, dim, heads=2):
        super().__init__()
        self.score = nn.Linear(dim, heads)
        self.attention = None
        self.regularizer = None

    def forward(self, x):
        weights = F.softmax(self.score(x), dim=1)
        self.attention = weights.detach()
        overlap = torch.einsum("bth,btk->bhk", weights, weights)
        self.regularizer = (overlap - torch.diag_embed(torch.diagonal(overlap, dim1=1, dim2=2))).pow(2).mean().detach()
        return torch.einsum("bth,btd->bhd", weights, x).flatten(1)


class ActivityNet(nn.Module):
    def __init__(self, hidden=16, classes=3):
        super().__init__()
        self.conv = nn.Conv1d(SENSORS, hidden, 5, padding=2)
        self.pool = AttentionPool(hidden)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        h = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return self.head(self.pool(h))


def make_data(gen):
    n = N_LABELLED + N_UNLABELLED
    y = torch.randint(3, (n,), generator=gen)
    time = torch.linspace(0, 6.28, LENGTH)
    freq = (y + 1).float().view(-1, 1, 1)
    x = torch.sin(freq * time.view(1, -1, 1) + torch.arange(SENSORS)) + 0.3 * torch.randn(n, LENGTH, SENSORS, generator=gen)
    return x[:N_LABELLED], y[:N_LABELLED], x[N_LABELLED:]


@torch.no_grad()
def update_teacher(teacher, student, decay=0.9):
    for tp, sp in zip(teacher.parameters(), student.parameters()):
        tp.lerp_(sp, 1 - decay)


def main(warmup=8, epochs=20):
    torch.manual_seed(SEED)
    student = ActivityNet()
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    gen = torch.Generator().manual_seed(SEED)
    x_lab, y_lab, x_unl = make_data(gen)
    teacher = None

    for epoch in range(epochs):
        if epoch == warmup:
            teacher = copy.deepcopy(student)
            for p in teacher.parameters():
                p.requires_grad_(False)

        logits = student(x_lab)
        loss = F.cross_entropy(logits, y_lab) + 2.0 * student.pool.regularizer
        if teacher is not None:
            noisy = x_unl + 0.1 * torch.randn(x_unl.shape, generator=gen)
            with torch.no_grad():
                soft = F.softmax(teacher(x_unl), dim=1)
            loss = loss + 0.5 * F.mse_loss(F.softmax(student(noisy), dim=1), soft)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if teacher is not None:
            update_teacher(teacher, student)
        if epoch % 5 == 0:
            peak = student.pool.attention.argmax(1).float().mean().item()
            print(f"epoch {epoch:2d}  loss {loss.item():.4f}  mean peak step {peak:.1f}")


if __name__ == "__main__":
    main()
