import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    hidden: int = 12
    layers: int = 2
    lr: float = 1e-2


class CharModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(20, cfg.hidden)
        self.rnn = nn.LSTM(cfg.hidden, cfg.hidden, cfg.layers, batch_first=True)
        self.out = nn.Linear(cfg.hidden, 20)
        self._memory = None

    @property
    def memory(self):
        return self._memory

    @memory.setter
    def memory(self, value):
        self._memory = (value[0].detach(), value[1])

    def forward(self, tokens):
        y, self.memory = self.rnn(self.embed(tokens), self.memory)
        return self.out(y)


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def step(self, batch):
        logits = self.model(batch[:, :-1])
        loss = self.loss_fn(logits.flatten(0, 1), batch[:, 1:].flatten())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, loader):
        for i, batch in enumerate(loader):
            print(i, self.step(batch))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(0)
    cfg = Config()
    loader = [torch.randint(0, 20, (4, 9)) for _ in range(args.batches)]
    Trainer(CharModel(cfg), cfg).fit(loader)


if __name__ == "__main__":
    main()
