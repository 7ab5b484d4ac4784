import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
rng = np.random.default_rng(3)

N_ROBOTS, OBS, ACT = 3, 6, 2


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, n_out))


class Depot:
    """Robots drive to their shelf; being close to another robot costs."""

    def reset(self):
        self.pos = rng.uniform(-1, 1, (N_ROBOTS, 2))
        self.shelf = rng.uniform(-1, 1, (N_ROBOTS, 2))
        return self.observe()

    def observe(self):
        centre = self.pos.mean(axis=0, keepdims=True).repeat(N_ROBOTS, axis=0)
        return np.concatenate([self.pos, self.shelf - self.pos, centre], axis=1).astype(np.float32)

    def step(self, velocity):
        self.pos = np.clip(self.pos + 0.2 * velocity, -1.2, 1.2)
        reward = -np.linalg.norm(self.shelf - self.pos, axis=1)
        gaps = np.linalg.norm(self.pos[:, None] - self.pos[None], axis=-1) + 10 * np.eye(N_ROBOTS)
        reward -= 0.5 * (gaps.min(axis=1) < 0.2)
        return self.observe(), reward.astype(np.float32)


class Robot:
    def __init__(self, idx):
        self.idx = idx
        self.actor, self.target_actor = mlp(OBS, ACT), mlp(OBS, ACT)
        self.critic = mlp(N_ROBOTS * (OBS + ACT), 1)
        self.target_critic = mlp(N_ROBOTS * (OBS + ACT), 1)
        self.target_actor.load_state_dict(self.actor.state_dict())
        self.target_critic.load_state_dict(self.critic.state_dict())
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def q(self, critic, obs, act):
        return critic(torch.cat([obs.flatten(1), act.flatten(1)], dim=1)).squeeze(1)

    def train(self, batch, fleet, gamma=0.9, tau=0.02):
        obs, act, rew, nxt = batch
        with torch.no_grad():
            nxt_act = torch.stack([torch.tanh(r.target_actor(nxt[:, r.idx])) for r in fleet], dim=1)
            y = rew[:, self.idx] + gamma * self.q(self.target_critic, nxt, nxt_act)
        critic_loss = F.mse_loss(self.q(self.critic, obs, act), y)

        # critic first, then the actor, as in the paper
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        joint = act.clone()
        joint[:, self.idx] = torch.tanh(self.actor(obs[:, self.idx]))
        pi_loss = -self.q(self.critic, obs, joint).mean()
        self.actor_optim.zero_grad()
        pi_loss.backward()
        self.actor_optim.step()

        with torch.no_grad():
            for net, tgt in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
                for p, t in zip(net.parameters(), tgt.parameters()):
                    t.lerp_(p, tau)
        return critic_loss.item(), pi_loss.item()


def collect(fleet, depot, steps):
    rows, obs = [], depot.reset()
    for k in range(steps):
        with torch.no_grad():
            a = np.stack([torch.tanh(r.actor(torch.from_numpy(obs[r.idx]))).numpy() for r in fleet])
        a = np.clip(a + 0.3 * rng.standard_normal(a.shape), -1, 1).astype(np.float32)
        nxt, rew = depot.step(a)
        rows.append((obs, a, rew, nxt))
        obs = nxt if (k + 1) % 16 else depot.reset()
    return [torch.from_numpy(np.stack(col)) for col in zip(*rows)]


fleet, depot = [Robot(i) for i in range(N_ROBOTS)], Depot()
for it in range(4):
    replay = collect(fleet, depot, 64)
    logs = [r.train(replay, fleet) for r in fleet]
    print(it, " ".join(f"q {c:.3f} pi {p:.3f}" for c, p in logs))
