"""
Learn the optimizer: an LSTM proposes the update of every coordinate. Optimizees are small least-squares problems
(stiffness of bridge bearings from deflections). Truncated after `unroll` steps; dies in the second piece.
"""
import torch
import torch.nn as nn


class LSTMOptimizer(nn.Module):
    def __init__(self, hidden=16, scale=0.1):
        super().__init__()
        self.lstm = nn.LSTMCell(1, hidden)
        self.out = nn.Linear(hidden, 1)
        self.hidden, self.scale = hidden, scale

    def init_state(self, n):
        return torch.zeros(n, self.hidden), torch.zeros(n, self.hidden)

    def forward(self, grad, state):
        h, c = self.lstm(grad.reshape(-1, 1), state)
        return self.scale * self.out(h).view_as(grad), (h, c)


class Bearings:
    """f(theta) = || W theta - y ||^2 for a random load case"""

    def __init__(self, n_loads=12, n_bearings=6):
        self.W = torch.rand(n_loads, n_bearings)
        stiffness = 0.5 + torch.rand(n_bearings)
        self.y = self.W @ stiffness + 0.01 * torch.randn(n_loads)
        self.n = n_bearings

    def loss(self, theta):
        return ((self.W @ theta - self.y) ** 2).mean()


def learn(opt_net, meta_opt, problem, n_steps=20, unroll=5):
    theta = torch.zeros(problem.n, requires_grad=True)
    state = opt_net.init_state(problem.n)
    losses, history = [], []
    for step in range(1, n_steps + 1):
        loss = problem.loss(theta)
        losses.append(loss)
        history.append(loss.item())
        grad, = torch.autograd.grad(loss, theta, retain_graph=True)
        update, state = opt_net(grad.detach(), state)
        theta = theta + update
        if step % unroll == 0:
            meta_loss = torch.stack(losses[1:] + [problem.loss(theta)]).sum()
            meta_opt.zero_grad()
            meta_loss.backward()
            meta_opt.step()
            losses = []
            state = tuple(s.detach() for s in state)
            theta = theta.detach().requires_grad_()
    return history


if __name__ == "__main__":
    torch.manual_seed(1606)
    opt_net = LSTMOptimizer()
    meta_opt = torch.optim.Adam(opt_net.parameters(), lr=3e-3)
    for it in range(12):
        history = learn(opt_net, meta_opt, Bearings())
        if it % 3 == 0:
            print(f"problem {it}: {history[0]:.3f} -> {history[-1]:.3f}")
