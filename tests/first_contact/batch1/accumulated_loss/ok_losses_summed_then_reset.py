"""Losses of several sentences are added up; one backward and one step for each group."""
import random

import torch
import torch.nn as nn

random.seed(13)
torch.manual_seed(13)


class Tagger(nn.Module):
    def __init__(self, vocab=9, tags=3, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, sentence):
        return self.out(self.rnn(self.emb(sentence))[0])


def sentence():
    words = torch.tensor([random.randrange(9) for _ in range(random.randint(4, 7))])
    return words, (words + torch.cat([words[:1], words[:-1]])) % 3


def train(groups=50, per_group=5):
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    group_loss, curve = 0, []
    for i in range(groups * per_group):
        words, tags = sentence()
        group_loss = group_loss + nn.functional.cross_entropy(model(words), tags)
        if (i + 1) % per_group == 0:
            opt.zero_grad()
            (group_loss / per_group).backward()
            opt.step()
            curve.append(group_loss.item() / per_group)
            group_loss = 0
    return curve


curve = train()
print("first %.3f last %.3f" % (sum(curve[:4]) / 4, sum(curve[-4:]) / 4))
