# expect: pattern = none
# expect: raises = nothing
"""World model and actor-critic on a stream of experience.

The recurrent state of the world model is carried from chunk to chunk, the behaviour
is learned in imagination, the critic has a slow target."""
import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal, kl_divergence


@dataclass
class Config:
    obs_dim: int = 8
    act_dim: int = 2
    deter: int = 20
    stoch: int = 6
    streams: int = 4
    chunk: int = 5
    horizon: int = 4
    updates: int = 5
    free_nats: float = 0.5
    gamma: float = 0.95
    lam: float = 0.9
    model_lr: float = 3e-3
    behaviour_lr: float = 1e-3
    tau: float = 0.05
    seed: int = 8


class PendulumStream:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.mix = torch.randn(2 + cfg.act_dim, cfg.obs_dim, generator=self.gen)
        self.state = torch.randn(cfg.streams, 2, generator=self.gen)

    def chunk(self):
        obs, act, rew, first = [], [], [], []
        for t in range(self.cfg.chunk):
            a = 2 * torch.rand(self.cfg.streams, self.cfg.act_dim, generator=self.gen) - 1
            theta, omega = self.state.unbind(-1)
            omega = 0.95 * omega - 0.2 * torch.sin(theta) + 0.1 * a.sum(-1)
            self.state = torch.stack([theta + 0.2 * omega, omega], dim=-1)
            reset = torch.rand(self.cfg.streams, generator=self.gen) < 0.1
            self.state[reset] = 0.0
            obs.append(torch.cat([self.state, a], -1) @ self.mix)
            act.append(a)
            rew.append(torch.cos(self.state[:, 0]))
            first.append(reset.float())
        return tuple(torch.stack(x) for x in (obs, act, rew, first))


class RSSM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.inp = nn.Linear(cfg.stoch + cfg.act_dim, cfg.deter)
        self.cell = nn.GRUCell(cfg.deter, cfg.deter)
        self.prior = nn.Linear(cfg.deter, 2 * cfg.stoch)
        self.post = nn.Linear(cfg.deter + cfg.obs_dim, 2 * cfg.stoch)

    def initial(self, batch):
        return torch.zeros(batch, self.cfg.deter), torch.zeros(batch, self.cfg.stoch)

    @staticmethod
    def dist(stats):
        mean, std = stats.chunk(2, -1)
        return Independent(Normal(mean, F.softplus(std) + 0.1), 1)

    def imagine(self, h, z, action):
        h = self.cell(F.elu(self.inp(torch.cat([z, action], -1))), h)
        prior = self.dist(self.prior(h))
        return h, prior.rsample(), prior

    def observe(self, obs, act, first, state):
        h, z = state
        feats, kls = [], []
        for o, a, f in zip(obs, act, first):
            keep = (1 - f).unsqueeze(-1)
            h, _, prior = self.imagine(h * keep, z * keep, a)
            post = self.dist(self.post(torch.cat([h, o], -1)))
            z = post.rsample()
            feats.append(torch.cat([h, z], -1))
            kls.append(kl_divergence(post, prior))
        return torch.stack(feats), torch.stack(kls), (h, z)


def head(inp, out):
    return nn.Sequential(nn.Linear(inp, 32), nn.ELU(inplace=True), nn.Linear(32, out))


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        feat = cfg.deter + cfg.stoch
        self.rssm, self.decoder, self.reward = RSSM(cfg), head(feat, cfg.obs_dim), head(feat, 1)
        self.actor, self.critic = head(feat, 2 * cfg.act_dim), head(feat, 1)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.model_params = [p for m in (self.rssm, self.decoder, self.reward) for p in m.parameters()]
        self.model_opt = torch.optim.Adam(self.model_params, lr=cfg.model_lr)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg.behaviour_lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=cfg.behaviour_lr)
        self.state = self.rssm.initial(cfg.streams)
        self.metrics = {}

    def log(self, **values):
        for k, v in values.items():
            self.metrics.setdefault(k, []).append(v.item())

    def train_model(self, obs, act, rew, first):
        feats, kl, (h, z) = self.rssm.observe(obs, act, first, self.state)
        recon = F.mse_loss(self.decoder(feats), obs)
        reward = F.mse_loss(self.reward(feats).squeeze(-1), rew)
        loss = recon + reward + kl.mean().clamp(min=self.cfg.free_nats)
        self.model_opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model_params, 10.0)
        self.model_opt.step()
        self.state = (h.detach(), z.detach())
        self.log(recon=recon, reward=reward, kl=kl.mean())
        return feats.detach().flatten(0, 1)

    def act(self, feat):
        mean, std = self.actor(feat).chunk(2, -1)
        return torch.tanh(Normal(mean, F.softplus(std) + 0.1).rsample())

    def train_behaviour(self, start):
        cfg = self.cfg
        h, z = start.split([cfg.deter, cfg.stoch], -1)
        for p in self.model_params:
            p.requires_grad_(False)
        feats = [start]
        for _ in range(cfg.horizon):
            h, z, _ = self.rssm.imagine(h, z, self.act(feats[-1].detach()))
            feats.append(torch.cat([h, z], -1))
        feats = torch.stack(feats)
        rewards = self.reward(feats[1:]).squeeze(-1)
        values = self.target(feats[1:]).squeeze(-1)
        ret, returns = values[-1], []
        for r, v in zip(reversed(rewards), reversed(values)):
            ret = r + cfg.gamma * ((1 - cfg.lam) * v + cfg.lam * ret)
            returns.append(ret)
        returns = torch.stack(returns[::-1])
        actor_loss = -returns.mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        for p in self.model_params:
            p.requires_grad_(True)

        critic_loss = F.mse_loss(self.critic(feats[:-1].detach()).squeeze(-1), returns.detach())
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        with torch.no_grad():
            for t, s in zip(self.target.parameters(), self.critic.parameters()):
                t.lerp_(s, cfg.tau)
        self.log(actor=actor_loss, critic=critic_loss)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    stream, agent = PendulumStream(cfg), Agent(cfg)
    for _ in range(cfg.updates):
        start = agent.train_model(*stream.chunk())
        agent.train_behaviour(start)
    print({k: [round(x, 3) for x in v] for k, v in agent.metrics.items()})


if __name__ == "__main__":
    main()
