# Learns the Hamiltonian of two coupled masses from (q, p, dq/dt, dp/dt) samples.
import argparse
import os

import numpy as np
import torch
from torch import nn


def get_args():
    parser = argparse.ArgumentParser(description=None)
    parser.add_argument("--dof", default=2, type=int, help="degrees of freedom")
    parser.add_argument("--hidden_dim", default=48, type=int)
    parser.add_argument("--learn_rate", default=3e-3, type=float)
    parser.add_argument("--total_steps", default=40, type=int)
    parser.add_argument("--print_every", default=10, type=int)
    parser.add_argument("--batch_size", default=64, type=int)
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--verbose", dest="verbose", action="store_true")
    parser.set_defaults(verbose=bool(os.environ.get("HNN_VERBOSE", "1")))
    return parser.parse_args()


def hamiltonian(q, p, k=1.0, kc=0.5):
    coupling = 0.5 * kc * (q[..., 0] - q[..., 1]) ** 2
    return 0.5 * (p ** 2).sum(-1) + 0.5 * k * (q ** 2).sum(-1) + coupling


def get_dataset(samples=512, dof=2, noise=0.02, k=1.0, kc=0.5):
    q, p = np.random.uniform(-1, 1, (2, samples, dof))
    dq = p
    dp = -k * q
    dp[:, 0] -= kc * (q[:, 0] - q[:, 1])
    dp[:, 1] += kc * (q[:, 0] - q[:, 1])
    x = np.concatenate([q, p], axis=1)
    dx = np.concatenate([dq, dp], axis=1) + noise * np.random.randn(samples, 2 * dof)
    split = int(0.8 * samples)
    return {"x": x[:split], "dx": dx[:split], "test_x": x[split:], "test_dx": dx[split:]}


class MLP(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim):
        super().__init__()
        self.linear1 = nn.Linear(input_dim, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, hidden_dim)
        self.linear3 = nn.Linear(hidden_dim, output_dim, bias=False)
        for layer in (self.linear1, self.linear2, self.linear3):
            nn.init.orthogonal_(layer.weight)

    def forward(self, x):
        h = torch.tanh(self.linear1(x))
        h = torch.tanh(self.linear2(h))
        return self.linear3(h)


class HNN(nn.Module):
    def __init__(self, dof, net):
        super().__init__()
        self.dof = dof
        self.net = net

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def time_derivative(self, x):
        """Hamilton's equations: dq/dt = dH/dp, dp/dt = -dH/dq."""
        q, p = x[:, :self.dof], x[:, self.dof:]
        H = self.forward(x)
        dHdq, dHdp = torch.autograd.grad(H.sum(), (q, p), create_graph=True, allow_unused=True)
        return torch.cat([dHdp, -dHdq], dim=1)

    def rollout(self, x0, dt=0.05, steps=40):
        xs = [x0]
        for _ in range(steps):
            x = xs[-1].detach().requires_grad_()
            k1 = self.time_derivative(x)
            k2 = self.time_derivative((x + 0.5 * dt * k1).detach().requires_grad_())
            xs.append((x + dt * k2).detach())
        return torch.stack(xs)


def train(args):
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    model = HNN(args.dof, MLP(2 * args.dof, args.hidden_dim, 1))
    optim = torch.optim.Adam(model.parameters(), args.learn_rate, weight_decay=1e-4)

    data = get_dataset(dof=args.dof)
    x = torch.tensor(data["x"], requires_grad=True, dtype=torch.float32)
    dx = torch.tensor(data["dx"], dtype=torch.float32)
    test_x = torch.tensor(data["test_x"], requires_grad=True, dtype=torch.float32)
    test_dx = torch.tensor(data["test_dx"], dtype=torch.float32)

    stats = {"train_loss": [], "test_loss": []}
    for step in range(args.total_steps + 1):
        ixs = torch.randperm(x.shape[0])[:args.batch_size]
        dx_hat = model.time_derivative(x[ixs])
        loss = (dx[ixs] - dx_hat).pow(2).mean()
        loss.backward()
        optim.step()
        optim.zero_grad()

        test_loss = (test_dx - model.time_derivative(test_x)).pow(2).mean()
        stats["train_loss"].append(loss.item())
        stats["test_loss"].append(test_loss.item())
        if args.verbose and step % args.print_every == 0:
            print("step {}, train_loss {:.4e}, test_loss {:.4e}".format(step, loss.item(), test_loss.item()))
    return model, stats


if __name__ == "__main__":
    args = get_args()
    model, stats = train(args)
    start = torch.tensor([[0.7, -0.2, 0.0, 0.3]])
    path = model.rollout(start)[:, 0]
    energy = hamiltonian(path[:, :args.dof], path[:, args.dof:])
    print("energy drift over the rollout: {:.4f}".format((energy[-1] - energy[0]).item()))
