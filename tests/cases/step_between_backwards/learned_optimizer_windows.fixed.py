# A learned optimizer, trained by truncated windows of its own trajectory.
import torch
from torch import nn


class LearnedOptimizer(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.rnn, self.out = nn.LSTMCell(1, width), nn.Linear(width, 1)

    def forward(self, grad, state):
        h, c = self.rnn(grad.unsqueeze(1), state)
        return 0.1 * self.out(h).squeeze(1), (h, c)


def quadratic(n=5):
    w = torch.randn(n, n)
    y = torch.randn(n)
    return lambda theta: (w @ theta - y).pow(2).mean()


def meta_train(net, tasks=2, steps=12, window=4):
    meta = torch.optim.Adam(net.parameters(), lr=1e-2)
    for task in range(tasks):
        f = quadratic()
        theta = torch.zeros(5, requires_grad=True)
        state = (torch.zeros(5, 8), torch.zeros(5, 8))
        window_loss = 0.0
        for t in range(steps):
            loss = f(theta)
            window_loss = window_loss + loss
            (g,) = torch.autograd.grad(loss, theta, retain_graph=True)
            delta, state = net(g, state)
            theta = theta + delta
            if (t + 1) % window == 0:
                meta.zero_grad()
                window_loss.backward()
                meta.step()
                window_loss = 0.0
                theta = theta.detach().requires_grad_()
                state = tuple(s.detach() for s in state)
        print(task, loss.item())


torch.manual_seed(0)
meta_train(LearnedOptimizer())
