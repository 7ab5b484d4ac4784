"""Latent dynamics model with a deterministic and a stochastic part, trained on a stream of chunks."""
from dataclasses import dataclass
from typing import Dict, Iterator, Optional, Tuple

import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence

Belief = Dict[str, torch.Tensor]


@dataclass
class Config:
    obs: int = 6
    act: int = 2
    deter: int = 24
    stoch: int = 4
    envs: int = 3
    chunk: int = 5
    chunks: int = 6
    free_nats: float = 0.1
    lr: float = 2e-3


class StateSpaceModel(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.cell = nn.GRUCell(cfg.stoch + cfg.act, cfg.deter)
        self.prior = nn.Linear(cfg.deter, 2 * cfg.stoch)
        self.posterior = nn.Linear(cfg.deter + cfg.obs, 2 * cfg.stoch)
        self.decoder = nn.Sequential(nn.Linear(cfg.deter + cfg.stoch, 32), nn.ELU(), nn.Linear(32, cfg.obs))

    def initial(self) -> Belief:
        return {"deter": torch.zeros(self.cfg.envs, self.cfg.deter),
                "stoch": torch.zeros(self.cfg.envs, self.cfg.stoch)}

    @staticmethod
    def _normal(raw):
        mean, scale = raw.chunk(2, -1)
        return Normal(mean, nn.functional.softplus(scale) + 0.1)

    def observe(self, obs, act, belief: Belief) -> Tuple[torch.Tensor, Belief]:
        deter, stoch = belief["deter"], belief["stoch"]
        loss = 0.0
        for t in range(obs.size(1)):
            deter = self.cell(torch.cat([stoch, act[:, t]], -1), deter)
            p = self._normal(self.prior(deter))
            q = self._normal(self.posterior(torch.cat([deter, obs[:, t]], -1)))
            stoch = q.rsample()
            rec = (self.decoder(torch.cat([deter, stoch], -1)) - obs[:, t]).pow(2).sum(-1).mean()
            kl = kl_divergence(q, p).sum(-1).mean().clamp(min=self.cfg.free_nats)
            loss = loss + rec + kl
        return loss / obs.size(1), {"deter": deter.detach(), "stoch": stoch}


def stream(cfg: Config) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
    x = torch.randn(cfg.envs, cfg.obs)
    mix = torch.randn(cfg.act, cfg.obs) * 0.3
    for _ in range(cfg.chunks):
        obs, act = [], []
        for _ in range(cfg.chunk):
            a = torch.randn(cfg.envs, cfg.act)
            x = 0.9 * x + a @ mix
            obs.append(x)
            act.append(a)
        yield torch.stack(obs, 1), torch.stack(act, 1)


def fit(cfg: Optional[Config] = None):
    cfg = cfg or Config()
    torch.manual_seed(12)
    model = StateSpaceModel(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    belief = model.initial()
    for n, (obs, act) in enumerate(stream(cfg)):
        loss, belief = model.observe(obs, act, model.initial())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 50.0)
        opt.step()
        print(f"chunk {n}: {loss.item():.3f}")


if __name__ == "__main__":
    fit()
