"""Curiosity module for a warehouse robot: inverse and forward dynamics on shared features."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Buffer:
    def __init__(self, size, obs_dim, n_actions, seed):
        rng = np.random.RandomState(seed)
        self.rng = rng
        self.obs = rng.randn(size, obs_dim).astype(np.float32)
        self.act = rng.randint(n_actions, size=size)
        push = rng.randn(n_actions, obs_dim).astype(np.float32)
        self.next_obs = 0.9 * self.obs + push[self.act] + 0.05 * rng.randn(size, obs_dim).astype(np.float32)

    def sample(self, n):
        i = self.rng.randint(len(self.obs), size=n)
        return (torch.as_tensor(self.obs[i]), torch.as_tensor(self.act[i]), torch.as_tensor(self.next_obs[i]))


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


def main(args):
    torch.manual_seed(args.seed)
    buffer = Buffer(400, args.obs_dim, args.n_actions, args.seed)
    encoder = mlp([args.obs_dim, 32, args.feat_dim])
    inverse_model = mlp([2 * args.feat_dim, 32, args.n_actions])
    forward_model = mlp([args.feat_dim + args.n_actions, 32, args.feat_dim])
    inv_opt = torch.optim.Adam(list(encoder.parameters()) + list(inverse_model.parameters()), lr=args.lr)
    fwd_opt = torch.optim.Adam(forward_model.parameters(), lr=args.lr)

    for update in range(args.updates):
        obs, act, next_obs = buffer.sample(args.batch_size)
        phi = encoder(obs)
        phi_next = encoder(next_obs)

        act_logits = inverse_model(torch.cat([phi, phi_next], dim=1))
        inv_loss = F.cross_entropy(act_logits, act)
        inv_opt.zero_grad()
        inv_loss.backward()
        inv_opt.step()

        onehot = F.one_hot(act, args.n_actions).float()
        phi_pred = forward_model(torch.cat([phi.detach(), onehot], dim=1))
        fwd_loss = 0.5 * F.mse_loss(phi_pred, phi_next.detach())
        fwd_opt.zero_grad()
        fwd_loss.backward()
        fwd_opt.step()

        if update % 5 == 0:
            print(f"update {update} inverse {inv_loss.item():.3f} forward {fwd_loss.item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--obs_dim", type=int, default=6)
    parser.add_argument("--feat_dim", type=int, default=8)
    parser.add_argument("--n_actions", type=int, default=4)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--updates", type=int, default=12)
    parser.add_argument("--lr", type=float, default=1e-3)
    main(parser.parse_args())
