# Online learning of a signal: every k steps the losses of the last k are walked.
from collections import deque

import torch
import torch.nn as nn


class OnlineRNN:
    def __init__(self, k=5, hidden=14):
        self.k = k
        self.cell = nn.RNNCell(1, hidden)
        self.read = nn.Linear(hidden, 1)
        params = list(self.cell.parameters()) + list(self.read.parameters())
        self.opt = torch.optim.SGD(params, lr=0.02)
        self.h = torch.zeros(1, hidden)
        self.losses = deque(maxlen=k)
        self.t = 0

    def observe(self, value, target):
        self.h = self.cell(value.view(1, 1), self.h)
        error = (self.read(self.h) - target).pow(2).sum()
        self.losses.append(error)
        self.h = self.h.detach()
        self.t += 1
        if self.t % self.k == 0:
            self.learn()
        return error.item()

    def learn(self):
        loss = torch.stack(list(self.losses)).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.cell.parameters(), 1.0)
        self.opt.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    signal = torch.sin(torch.arange(0, 12, 0.4))
    learner = OnlineRNN()
    errors = [learner.observe(a, b) for a, b in zip(signal, signal[1:])]
    print(sum(errors) / len(errors))
