# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = reg._memo, self._memo, fresh
"""Streaming anomaly detector: one GRU per sensor, kept in a registry, trained as data arrives."""

import logging
from collections import OrderedDict
from typing import NamedTuple

import torch
from torch import nn, optim

log = logging.getLogger(__name__)


class Config(NamedTuple):
    sensors: tuple = ("temp", "flow", "rpm")
    width: int = 6
    steps: int = 6
    lr: float = 3e-3


class Registry:
    def __init__(self, cfg):
        self._cells = nn.ModuleDict({s: nn.GRUCell(2, cfg.width) for s in cfg.sensors})
        self._readout = nn.Linear(cfg.width * len(cfg.sensors), 1)
        self._memo = OrderedDict((s, None) for s in cfg.sensors)

    def parameters(self):
        yield from self._cells.parameters()
        yield from self._readout.parameters()

    def score(self, sample):
        fresh = OrderedDict()
        for name, cell in self._cells.items():
            fresh[name] = cell(sample[name], self._memo[name])  # expect: place
        self._memo.update(fresh)  # expect: place
        return self._readout(torch.cat(list(fresh.values()), dim=-1)).squeeze(-1)


def stream(cfg):
    for _ in range(cfg.steps):
        yield {s: torch.randn(3, 2) for s in cfg.sensors}, torch.rand(3)


def main(cfg=Config()):
    torch.manual_seed(5)
    reg = Registry(cfg)
    opt = optim.RMSprop(reg.parameters(), lr=cfg.lr)
    for i, (sample, target) in enumerate(stream(cfg)):
        with torch.enable_grad():
            penalty = nn.functional.huber_loss(reg.score(sample), target)
        opt.zero_grad(set_to_none=True)
        penalty.backward()  # expect: place
        opt.step()
        log.info("%d %.4f", i, penalty.item())


if __name__ == "__main__":
    main()
