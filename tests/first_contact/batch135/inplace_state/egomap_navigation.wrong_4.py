"""Behaviour cloning for a point-goal robot with a learned spatial map.

At every step the agent writes an encoding of its lidar scan into the map cell it
stands on (a gated blend with what the cell held), reads the map by attention and
predicts the expert's action.  The map lives for one episode."""
import argparse
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--grid", type=int, default=5)
    p.add_argument("--beams", type=int, default=12)
    p.add_argument("--map-dim", type=int, default=10)
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--envs", type=int, default=4)
    p.add_argument("--horizon", type=int, default=7)
    p.add_argument("--iters", type=int, default=5)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--aux-coef", type=float, default=0.2)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args([])


@dataclass
class Episode:
    scans: list = field(default_factory=list)
    cells: list = field(default_factory=list)
    goals: list = field(default_factory=list)
    actions: list = field(default_factory=list)

    def push(self, scan, cell, goal, action):
        self.scans.append(scan)
        self.cells.append(cell)
        self.goals.append(goal)
        self.actions.append(action)

    def __len__(self):
        return len(self.scans)


class GridWorld:
    """Vectorised toy world with an expert that walks towards the goal."""

    MOVES = torch.tensor([[1, 0], [-1, 0], [0, 1], [0, -1]])

    def __init__(self, args):
        self.args = args
        self.generator = torch.Generator().manual_seed(args.seed)
        self.texture = torch.randn(args.grid * args.grid, args.beams, generator=self.generator)

    def reset(self):
        size = (self.args.envs, 2)
        self.pos = torch.randint(0, self.args.grid, size, generator=self.generator)
        self.goal = torch.randint(0, self.args.grid, size, generator=self.generator)

    def observe(self):
        cell = self.pos[:, 0] * self.args.grid + self.pos[:, 1]
        noise = torch.randn(self.args.envs, self.args.beams, generator=self.generator)
        return self.texture[cell] + 0.1 * noise, cell, (self.goal - self.pos).float()

    def expert(self):
        delta = self.goal - self.pos
        along_x = delta[:, 0].abs() >= delta[:, 1].abs()
        x_action = torch.where(delta[:, 0] >= 0, 0, 1)
        y_action = torch.where(delta[:, 1] >= 0, 2, 3)
        return torch.where(along_x, x_action, y_action)

    def step(self, action):
        self.pos = (self.pos + self.MOVES[action]).clamp(0, self.args.grid - 1)

    def rollout(self):
        self.reset()
        episode = Episode()
        for _ in range(self.args.horizon):
            action = self.expert()
            episode.push(*self.observe(), action)
            self.step(action)
        return episode


class MapMemory(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.slots = args.grid * args.grid
        self.dim = args.map_dim
        self.gate = nn.Linear(2 * args.map_dim, args.map_dim)
        self.query = nn.Linear(args.hidden, args.map_dim)

    def init_map(self, batch):
        return torch.zeros(batch, self.slots, self.dim)

    def write(self, ego_map, cell, value):
        rows = torch.arange(ego_map.size(0))
        old = ego_map[rows, cell].clone()
        g = torch.sigmoid(self.gate(torch.cat([old, value], dim=-1)))
        ego_map[rows, cell] = g * value + (1 - g) * old
        return ego_map

    def read(self, ego_map, hidden):
        scores = torch.einsum("bd,bsd->bs", self.query(hidden), ego_map) / math.sqrt(self.dim)
        return torch.einsum("bs,bsd->bd", scores.softmax(-1), ego_map)


class MapAgent(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(args.beams + 2, args.hidden), nn.ELU())
        self.to_map = nn.Linear(args.hidden, args.map_dim)
        self.memory = MapMemory(args)
        self.policy = nn.Linear(args.hidden + args.map_dim, 4)
        self.goal_head = nn.Linear(args.map_dim, 2)

    def forward(self, scan, cell, goal, ego_map):
        hidden = self.encoder(torch.cat([scan, goal], dim=-1))
        ego_map = self.memory.write(ego_map, cell, torch.tanh(self.to_map(hidden)))
        context = self.memory.read(ego_map, hidden)
        return self.policy(torch.cat([hidden, context], dim=-1)), self.goal_head(context), ego_map


def episode_loss(agent, episode, args):
    ego_map = agent.memory.init_map(args.envs)
    bc, aux, hits = 0.0, 0.0, 0
    for scan, cell, goal, action in zip(episode.scans, episode.cells, episode.goals, episode.actions):
        logits, goal_hat, ego_map = agent(scan, cell, goal, ego_map)
        bc = bc + F.cross_entropy(logits, action)
        aux = aux + F.smooth_l1_loss(goal_hat, goal)
        hits += (logits.argmax(-1) == action).sum().item()
    n = len(episode)
    return (bc + args.aux_coef * aux) / n, hits / (n * args.envs)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    world = GridWorld(args)
    agent = MapAgent(args)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.lr)
    for it in range(args.iters):
        loss, acc = episode_loss(agent, world.rollout(), args)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
        optimizer.step()
        print(f"iter {it} loss {loss.item():.4f} acc {acc:.2f}")


if __name__ == "__main__":
    main()
