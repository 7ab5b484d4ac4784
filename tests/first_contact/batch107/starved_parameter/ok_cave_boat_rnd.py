"""A small boat maps a flooded cave: REINFORCE with a bonus for what it has not seen yet.

The bonus is random network distillation: a net that is never trained gives a fingerprint of the
sonar view, a second one learns to foretell it, and where it fails the boat has not been.
"""
import collections
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE, MOVES = 7, torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Cave:
    def __init__(self, boats, seed):
        gen = torch.Generator().manual_seed(seed)
        self.rock = torch.rand(SIZE, SIZE, generator=gen) < 0.15
        self.rock[0, 0] = False
        self.boats = boats

    def reset(self):
        self.at = torch.zeros(self.boats, 2, dtype=torch.long)
        return self.view()

    def view(self):
        flat = F.one_hot(self.at[:, 0] * SIZE + self.at[:, 1], SIZE * SIZE)
        return flat.float()

    def step(self, move):
        to = (self.at + MOVES[move]).clamp(0, SIZE - 1)
        blocked = self.rock[to[:, 0], to[:, 1]]
        self.at = torch.where(blocked[:, None], self.at, to)
        return self.view(), -0.05 * blocked.float()


def mlp(inputs, outputs, hidden=32):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


class Curiosity(nn.Module):
    def __init__(self, inputs, prints=16):
        super().__init__()
        self.fixed = mlp(inputs, prints)
        self.learner = mlp(inputs, prints)
        nn.init.orthogonal_(self.fixed[0].weight, gain=2.0)
        for p in self.fixed.parameters():
            p.requires_grad_(False)
        self.scale = 1.0

    def forward(self, view):
        return (self.learner(view) - self.fixed(view)).square().mean(-1)

    def bonus(self, view):
        with torch.no_grad():
            raw = self(view)
        self.scale = 0.95 * self.scale + 0.05 * raw.mean().item()
        return raw / (self.scale + 1e-6)


def returns(rewards, gamma=0.9):
    out, running = [], torch.zeros_like(rewards[0])
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.stack(out[::-1])


def episode(cave, policy, curiosity, length):
    view, log = cave.reset(), collections.defaultdict(list)
    for _ in range(length):
        choice = torch.distributions.Categorical(logits=policy(view))
        move = choice.sample()
        log["logp"].append(choice.log_prob(move))
        log["entropy"].append(choice.entropy())
        view, reward = cave.step(move)
        log["reward"].append(reward + 0.1 * curiosity.bonus(view))
        log["view"].append(view)
    return {name: values if name == "reward" else torch.stack(values) for name, values in log.items()}


def main(episodes=30, boats=16, length=20):
    torch.manual_seed(6)
    torch.set_num_threads(1)
    cave = Cave(boats, seed=6)
    policy, curiosity = mlp(SIZE * SIZE, len(MOVES)), Curiosity(SIZE * SIZE)
    opt_policy = torch.optim.Adam(policy.parameters(), lr=1e-2)
    opt_curious = torch.optim.Adam(curiosity.learner.parameters(), lr=2e-3)
    seen = torch.zeros(SIZE * SIZE, dtype=torch.bool)
    baseline = 0.0
    for n in range(1, episodes + 1):
        log = episode(cave, policy, curiosity, length)
        gain = returns(log["reward"])
        baseline = gain.mean().item() if n == 1 else 0.9 * baseline + 0.1 * gain.mean().item()
        loss = -(log["logp"] * (gain - baseline)).mean() - 0.01 * log["entropy"].mean()
        opt_policy.zero_grad()
        loss.backward()
        opt_policy.step()

        novelty = curiosity(log["view"].flatten(0, 1))
        opt_curious.zero_grad()
        novelty.mean().backward()
        opt_curious.step()

        seen |= log["view"].flatten(0, 1).any(0).bool()
        if n % 10 == 0:
            print(f"{n:3d} novelty {novelty.mean().item():.4f} entropy {log['entropy'].mean().item() / math.log(4):.2f} "
                  f"cells {int(seen.sum())} of {int((~cave.rock).sum())}")


if __name__ == "__main__":
    main()
