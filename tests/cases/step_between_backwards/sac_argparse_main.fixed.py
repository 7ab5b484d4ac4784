import argparse
import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=4)
    p.add_argument("--alpha", type=float, default=0.1)
    return p.parse_args()


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, o))


def main():
    args = parse()
    torch.manual_seed(0)
    policy, critic = mlp(4, 2), mlp(6, 1)
    p_opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    c_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
    for it in range(args.iters):
        obs, ret = torch.randn(32, 4), torch.randn(32, 1)
        act = torch.tanh(policy(obs))
        q_replay = critic(torch.cat([obs, act.detach()], -1))
        critic_loss = (q_replay - ret).pow(2).mean()
        c_opt.zero_grad()
        critic_loss.backward()
        c_opt.step()
        q = critic(torch.cat([obs, act], -1))
        policy_loss = -q.mean() + args.alpha * act.pow(2).mean()
        p_opt.zero_grad()
        policy_loss.backward()
        p_opt.step()
        print(it, float(policy_loss), float(critic_loss))


main()
