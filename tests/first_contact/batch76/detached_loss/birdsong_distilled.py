# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = student_logits, s_out, loss
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, T, LAMBDA = 3, 3.0, 0.7


class BigNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 12, 5, padding=2), nn.BatchNorm1d(12), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(12, 24, 3, padding=1), nn.BatchNorm1d(24), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.fc = nn.Linear(24, n_classes)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


class SmallNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 5, padding=2)
        self.fc = nn.Linear(6, n_classes)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).amax(dim=2))


def songs(n, n_classes):
    y = torch.randint(n_classes, (n,))
    t = torch.linspace(0, 1, 40)
    x = torch.sin(6.28 * (y.view(-1, 1) + 2) * 2 * t) + 0.2 * torch.randn(n, 40)
    return TensorDataset(x.unsqueeze(1), y)


def train_teacher(teacher, loader):
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for _ in range(2):
        for x, y in loader:
            opt.zero_grad()
            F.cross_entropy(teacher(x), y).backward()
            opt.step()


def kd_loss(s, t, y):
    soft = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    return LAMBDA * soft + (1 - LAMBDA) * F.cross_entropy(s, y)


def distill(student, teacher, loader):
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    teacher.eval()
    for epoch in range(EPOCHS):
        student.train()
        running, hits, seen = 0.0, 0, 0
        for x, y in loader:
            opt.zero_grad()
            with torch.no_grad():  # expect: place
                teacher_logits = teacher(x)
                student_logits = student(x)  # expect: place
            loss = kd_loss(student_logits, teacher_logits, y)  # expect: place
            loss.backward()  # expect: place
            opt.step()
            running += loss.item() * len(y)
            hits += (student_logits.argmax(1) == y).sum().item()
            seen += len(y)
        print(f"[{epoch}] loss {running / seen:.4f} acc {hits / seen:.3f}")


torch.manual_seed(33)
loader = DataLoader(songs(120, 3), batch_size=30, shuffle=True)
teacher, student = BigNet(3), SmallNet(3)
train_teacher(teacher, loader)
distill(student, teacher, loader)
