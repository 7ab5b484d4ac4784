# Off-policy actor-critic: targets are computed once, then used for several minibatch updates.
import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.policy = nn.Linear(32, 4)
        self.baseline = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.torso(obs)
        return Categorical(logits=self.policy(h)), self.baseline(h).squeeze(-1)


def vtrace(values, rewards, log_rhos, gamma):
    rhos = log_rhos.exp().clamp(max=1.0)
    acc, out = torch.zeros_like(values[-1]), []
    for t in reversed(range(len(rewards))):
        bootstrap = values[t + 1] if t + 1 < len(values) else values[t]
        delta = rhos[t] * (rewards[t] + gamma * bootstrap - values[t])
        acc = delta + gamma * rhos[t] * acc
        out.insert(0, values[t] + acc)
    return torch.stack(out)


def learn(net, opt, traj, args):
    with torch.no_grad():
        behaviour = traj["dist"].log_prob(traj["action"])
    dist, values = net(traj["obs"])
    log_rhos = (dist.log_prob(traj["action"]) - behaviour).detach()
    targets = vtrace(values.detach(), traj["reward"], log_rhos, args.gamma)
    T = len(targets)
    for epoch in range(args.epochs):
        for idx in torch.randperm(T).chunk(args.minibatches):
            dist, value = net(traj["obs"][idx])
            advantage = (targets[idx] - value).detach()
            pg = -(dist.log_prob(traj["action"][idx]) * advantage).mean()
            baseline = 0.5 * (value - targets[idx]).pow(2).mean()
            opt.zero_grad()
            (pg + baseline).backward()
            opt.step()
    return pg.item(), baseline.item()


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--gamma", type=float, default=0.97)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--minibatches", type=int, default=2)
    args = ap.parse_args(argv)
    torch.manual_seed(4)
    net = ActorCritic()
    opt = torch.optim.Adam(net.parameters(), 3e-4)
    for it in range(2):
        obs = torch.randn(8, 5, 3)
        with torch.no_grad():
            dist, _ = net(obs)
        action = dist.sample()
        traj = dict(obs=obs, dist=dist, action=action, reward=(action == 1).float())
        print(it, *learn(net, opt, traj, args))


main([])
