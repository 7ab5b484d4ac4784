'''Dating ice cores: two small students learn from one teacher (soft labels + hint), FitNets style.

python distill.py --T 3 --lam 0.7        (written for pytorch 0.3)
'''
from __future__ import print_function
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch-size', type=int, default=20)
parser.add_argument('--T', type=float, default=3.0)
parser.add_argument('--lam', type=float, default=0.7)
parser.add_argument('--seed', type=int, default=3)
opt = parser.parse_args([])
torch.manual_seed(opt.seed)


class Teacher(nn.Module):
    def __init__(self):
        super(Teacher, self).__init__()
        self.conv1 = nn.Conv1d(4, 24, 5, padding=2)
        self.conv2 = nn.Conv1d(24, 24, 5, padding=2)
        self.fc = nn.Linear(24, 6)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        hint = F.relu(self.conv2(F.max_pool1d(x, 2))).mean(2)
        return self.fc(hint), hint


class Student(nn.Module):
    def __init__(self, width):
        super(Student, self).__init__()
        self.conv = nn.Conv1d(4, width, 7, padding=3)
        self.regress = nn.Linear(width, 24)
        self.fc = nn.Linear(24, 6)

    def forward(self, x):
        x = F.relu(self.conv(x)).mean(2)
        hint = self.regress(x)
        return self.fc(F.relu(hint)), hint


def make_cores(n):
    y = torch.LongTensor(n).random_(0, 6)
    t = torch.arange(0, 32).float() / 32
    x = torch.stack([torch.sin(2 * 3.1416 * (k + 1) * t * (1 + y.float().unsqueeze(1) / 6)) for k in range(4)], 1)
    return x + 0.5 * torch.randn(n, 4, 32), y


def criterion(logits, hint, y, soft, hint_t):
    kd = F.kl_div(F.log_softmax(logits / opt.T, 1), soft, reduction='batchmean') * opt.T ** 2
    return (1 - opt.lam) * F.cross_entropy(logits, y) + opt.lam * kd + 0.1 * F.mse_loss(hint, hint_t)


X, Y = make_cores(200)
teacher = Teacher()
opt_t = optim.Adam(teacher.parameters(), lr=0.01)
for i in range(30):
    opt_t.zero_grad()
    F.cross_entropy(teacher(Variable(X))[0], Variable(Y)).backward()
    opt_t.step()
teacher.eval()

students = [Student(8), Student(16)]
optimizers = [optim.SGD(s.parameters(), lr=0.05, momentum=0.9) for s in students]
for epoch in range(opt.epochs):
    perm = torch.randperm(X.size(0))
    running = [0.0, 0.0]
    for b in range(0, X.size(0), opt.batch_size):
        idx = perm[b:b + opt.batch_size]
        with torch.no_grad():
            logits_t, hint = teacher(Variable(X[idx]))
            soft = F.softmax(logits_t / opt.T, 1)
        x, y = Variable(X[idx]), Variable(Y[idx])
        for k, (student, optimizer) in enumerate(zip(students, optimizers)):
            logits, hint_s = student(x)
            loss = criterion(logits, hint_s, y, soft, hint)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running[k] += loss.data.item()
    print('epoch %d  student8 %.4f  student16 %.4f' % (epoch, running[0] / 10, running[1] / 10))
