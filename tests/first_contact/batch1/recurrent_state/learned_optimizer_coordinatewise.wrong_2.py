"""Learning to learn: an LSTM proposes the updates of a small regression problem."""
import torch
import torch.nn as nn

cfg = {"unroll": 5, "windows": 6, "problems": 2, "hidden": 10, "meta_lr": 5e-3, "scale": 0.1, "seed": 71}


class CoordinateLSTM(nn.Module):
    """The same LSTM for every coordinate; gradients in, updates out."""

    def __init__(self, hidden, scale):
        super().__init__()
        self.hidden, self.scale = hidden, scale
        self.cell = nn.LSTMCell(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def start(self, n):
        return torch.zeros(n, self.hidden), torch.zeros(n, self.hidden)

    def forward(self, grad, state):
        feats = torch.stack([grad.sign(), (grad.abs() + 1e-6).log() / 10], dim=-1)
        state = self.cell(feats, state)
        return self.scale * self.out(state[0]).squeeze(-1), state


class Quadratic:
    def __init__(self, n=6):
        self.A, self.b = torch.randn(n, n) / n ** 0.5, torch.randn(n)
        self.theta0 = torch.randn(n)

    def loss(self, theta):
        return (self.A @ theta - self.b).pow(2).mean()

    def grad(self, theta):
        r = self.A @ theta.detach() - self.b
        return 2 * self.A.t() @ r / len(r)


def meta_train():
    torch.manual_seed(cfg["seed"])
    learner = CoordinateLSTM(cfg["hidden"], cfg["scale"])
    meta_opt = torch.optim.Adam(learner.parameters(), lr=cfg["meta_lr"])
    for p in range(cfg["problems"]):
        problem = Quadratic()
        theta, state = problem.theta0, learner.start(6)
        for w in range(cfg["windows"]):
            meta_loss = 0
            for _ in range(cfg["unroll"]):
                update, state = learner(problem.grad(theta), state)
                theta = theta.detach() + update
                state = tuple(s.detach() for s in state)
                meta_loss = meta_loss + problem.loss(theta)
            meta_opt.zero_grad()
            meta_loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
            meta_opt.step()
        print("problem %d: start %.3f end %.3f" % (p, problem.loss(problem.theta0), problem.loss(theta)))


if __name__ == "__main__":
    meta_train()
