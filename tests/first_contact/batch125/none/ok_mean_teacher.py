"""Semi-supervised gesture classifier: a slowly moving teacher and a bank of its features."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(29)


class GestureNet(nn.Module):
    def __init__(self, n_in=15, n_hidden=32, n_classes=4):
        super().__init__()
        self.gru = nn.GRU(n_in, n_hidden, batch_first=True)
        self.head = nn.Linear(n_hidden, n_classes)

    def forward(self, x, hidden=None):
        out, hidden = self.gru(x, hidden)
        features = out.mean(1)
        return self.head(features), features, hidden


@torch.no_grad()
def follow(teacher, student, decay):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(decay).add_(fast, alpha=1 - decay)


centres = torch.randn(4, 1, 15)


def recordings(n):
    label = torch.randint(4, (n,))
    wave = torch.sin(torch.linspace(0, 6, 10)).view(1, 10, 1)
    return centres[label] * wave + 0.7 * torch.randn(n, 10, 15), label


student = GestureNet()
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
bank, history = [], []
state_s = state_t = None

for step in range(40):
    labelled, label = recordings(16)
    unlabelled, _ = recordings(16)
    x = torch.cat([labelled, unlabelled])

    logits, features, state_s = student(x + 0.1 * torch.randn_like(x), state_s)
    target, slow_features, state_t = teacher(x, state_t)
    state_s = state_s.detach()

    loss = F.cross_entropy(logits[:16], label)
    loss = loss + F.kl_div(F.log_softmax(logits, -1), F.softmax(target, -1), reduction="batchmean")
    if bank:
        similarity = F.normalize(features, dim=-1) @ F.normalize(torch.cat(bank), dim=-1).t()
        loss = loss + 0.01 * similarity.pow(2).mean()

    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimizer.step()
    follow(teacher, student, decay=0.95)

    bank.append(slow_features)
    if len(bank) > 5:
        bank.pop(0)
    history.append(loss.item())

print(f"first {history[0]:.3f} last {history[-1]:.3f}")
