"""Gas kicks while drilling: a temporal convnet on mud-logs, few labels, a mean teacher for the rest."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
weight_norm = lambda conv: conv


class Chomp1d(nn.Module):
    def __init__(self, size):
        super(Chomp1d, self).__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, :-self.size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, c_in, c_out, dilation, kernel=3, dropout=0.1):
        super(TemporalBlock, self).__init__()
        pad = (kernel - 1) * dilation
        self.conv1 = weight_norm(nn.Conv1d(c_in, c_out, kernel, padding=pad, dilation=dilation))
        self.conv2 = weight_norm(nn.Conv1d(c_out, c_out, kernel, padding=pad, dilation=dilation))
        self.chomp = Chomp1d(pad)
        self.dropout = nn.Dropout(dropout)
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else None

    def forward(self, x):
        y = self.dropout(F.relu(self.chomp(self.conv1(x))))
        y = self.dropout(F.relu(self.chomp(self.conv2(y))))
        return F.relu(y + (x if self.skip is None else self.skip(x)))


class KickNet(nn.Module):
    def __init__(self, logs, widths):
        super(KickNet, self).__init__()
        sizes = [logs] + list(widths)
        self.blocks = nn.Sequential(*[TemporalBlock(a, b, 2 ** k) for k, (a, b) in enumerate(zip(sizes, widths))])
        self.head = nn.Linear(widths[-1], 1)

    def forward(self, x):
        return self.head(self.blocks(x)[:, :, -1]).squeeze(-1)


def mud_logs(n, logs=4, length=24):
    x = torch.randn(n, logs, length)
    kick = (torch.rand(n) < 0.4).float()
    ramp = torch.linspace(0, 1, 8)
    x[:, 0, -8:] += 2.0 * kick[:, None] * ramp
    x[:, 1, -8:] -= 1.5 * kick[:, None] * ramp
    return x, kick


def make_teacher(student):
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher.eval()


@torch.no_grad()
def follow(teacher, student, decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        right = ((net(x) > 0).float() == y).float().mean().item()
    net.train()
    return right


def main():
    torch.manual_seed(60)
    labelled, unlabelled, test = mud_logs(24), mud_logs(96)[0], mud_logs(80)
    student = KickNet(4, (8, 8))
    teacher = make_teacher(student)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    torch.manual_seed(61)
    for it in range(30):
        batch = unlabelled[torch.randint(0, 96, (32,))]
        with torch.no_grad():
            believed = torch.sigmoid(teacher(batch))
        loss_l = F.binary_cross_entropy_with_logits(student(labelled[0]), labelled[1])
        loss_u = F.mse_loss(torch.sigmoid(student(batch + 0.1 * torch.randn_like(batch))), believed)
        ramp = min(1.0, it / 10)
        optimizer.zero_grad()
        (loss_l + 2.0 * ramp * loss_u).backward()
        optimizer.step()
        follow(teacher, student, min(0.95, (it + 1) / (it + 2)))
        if it % 10 == 9:
            print("it %d  labelled %.3f  unlabelled %.4f  student %.2f  teacher %.2f" % (
                it + 1, loss_l.item(), loss_u.item(), accuracy(student, *test), accuracy(teacher, *test)))
            teacher.eval()


if __name__ == "__main__":
    main()
