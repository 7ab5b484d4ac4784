"""Character model trained by truncated backpropagation; the state is carried over chunks."""
# expect: pattern = none
# expect: raises = nothing
import logging
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("charlm")

TEXT = "the cat sat on the mat and the dog sat on the log while the rain fell on the town. " * 12


@dataclass
class Config:
    embed: int = 12
    hidden: int = 32
    layers: int = 2
    bptt: int = 15
    lanes: int = 4
    epochs: int = 2
    lr: float = 0.01
    clip: float = 1.0
    activation_penalty: float = 0.01
    seed: int = 8


@dataclass
class History:
    losses: list = field(default_factory=list)

    def add(self, loss):
        self.losses.append(loss.item())

    def mean(self):
        return sum(self.losses) / len(self.losses)


class Corpus:
    def __init__(self, text):
        self.chars = sorted(set(text))
        index = {c: i for i, c in enumerate(self.chars)}
        self.ids = torch.tensor([index[c] for c in text])

    def lanes(self, count):
        usable = len(self.ids) // count * count
        return self.ids[:usable].view(count, -1)


class CharLM(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.cfg = cfg
        self.embedding = nn.Embedding(vocab, cfg.embed)
        self.rnn = nn.LSTM(cfg.embed, cfg.hidden, cfg.layers, batch_first=True)
        self.decoder = nn.Linear(cfg.hidden, vocab)

    def init_state(self, lanes):
        shape = (self.cfg.layers, lanes, self.cfg.hidden)
        return torch.zeros(shape), torch.zeros(shape)

    def forward(self, tokens, state):
        output, state = self.rnn(self.embedding(tokens), state)
        return self.decoder(output), output, state


def repackage(state):
    return tuple(s.detach() for s in state)


def chunks(lanes, bptt):
    for start in range(0, lanes.size(1) - 1, bptt):
        stop = min(start + bptt, lanes.size(1) - 1)
        yield lanes[:, start:stop], lanes[:, start + 1 : stop + 1]


def train_epoch(model, optimizer, lanes, cfg):
    history = History()
    state = model.init_state(cfg.lanes)
    for tokens, targets in chunks(lanes, cfg.bptt):
        state = repackage(state)
        logits, output, state = model(tokens, state)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss = loss + cfg.activation_penalty * output.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        optimizer.step()
        history.add(loss)
    return history.mean()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    corpus = Corpus(TEXT)
    model = CharLM(len(corpus.chars), cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        log.info("epoch %d loss %.3f", epoch, train_epoch(model, optimizer, corpus.lanes(cfg.lanes), cfg))


if __name__ == "__main__":
    main()
