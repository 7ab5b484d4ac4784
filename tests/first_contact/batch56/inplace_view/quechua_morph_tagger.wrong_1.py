"""Morpheme boundary tagger (B/I/E/S per character) for agglutinative words, synthetic lexicon."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

STEMS = "wasi runa llama mayu inti killa sara".split()
SUFFIXES = "kuna pi ta manta wan nchik yki lla".split()
TAGS = {"B": 0, "I": 1, "E": 2, "S": 3}
CHARS = {c: i + 1 for i, c in enumerate(sorted(set("".join(STEMS + SUFFIXES))))}


def tag_morpheme(m):
    return "S" if len(m) == 1 else "B" + "I" * (len(m) - 2) + "E"


def make_word(rng):
    parts = [rng.choice(STEMS)] + rng.sample(SUFFIXES, rng.randint(1, 3))
    return "".join(parts), "".join(tag_morpheme(p) for p in parts)


def encode(words):
    x = pad_sequence([torch.tensor([CHARS[c] for c in w]) for w, _ in words], batch_first=True)
    y = pad_sequence([torch.tensor([TAGS[t] for t in tags]) for _, tags in words],
                     batch_first=True, padding_value=-100)
    return x, y


class Tagger(nn.Module):
    def __init__(self, n_chars, dim=16, hidden=20):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(n_chars + 1, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        # learned nudges: the left context leans on the previous state, the right one on the next
        self.from_prev = nn.Linear(hidden, hidden, bias=False)
        self.from_next = nn.Linear(hidden, hidden, bias=False)
        self.scorer = nn.Sequential(nn.Tanh(), nn.Linear(2 * hidden, len(TAGS)))

    def forward(self, x):
        states, _ = self.rnn(self.embed(x))
        left, right = torch.split(states, self.hidden, dim=-1)
        prev = nn.functional.pad(left[:, :-1], (0, 0, 1, 0))
        nxt = nn.functional.pad(right[:, 1:], (0, 0, 0, 1))
        left.data += self.from_prev(prev)
        right.data += self.from_next(nxt)
        return self.scorer(torch.cat([left, right], dim=-1))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        hit = model(x).argmax(-1) == y
    model.train()
    return (hit & (y >= 0)).sum().item() / (y >= 0).sum().item()


def run():
    torch.manual_seed(13)
    rng = random.Random(13)
    train = [make_word(rng) for _ in range(160)]
    dev = encode([make_word(rng) for _ in range(40)])
    model = Tagger(len(CHARS))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    for epoch in range(6):
        rng.shuffle(train)
        total = 0.0
        for i in range(0, len(train), 20):
            x, y = encode(train[i:i + 20])
            loss = criterion(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        print("epoch", epoch, "loss %.3f" % (total / 8), "dev %.3f" % accuracy(model, *dev))


if __name__ == "__main__":
    run()
