import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)


def hide_tokens(features, lengths):
    features = features.clone()
    for row, length in enumerate(lengths):
        features[row, length:] = 0.0
    return features


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 8)
        self.mix = nn.Linear(8, 8)
        self.tag = nn.Linear(8, 4)

    def forward(self, tokens, lengths):
        hidden = torch.tanh(self.mix(self.embed(tokens)))
        hidden = hide_tokens(hidden, lengths)
        return self.tag(hidden)


model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(3):
    lengths = [random.randint(2, 6) for _ in range(5)]
    tokens = torch.randint(0, 25, (5, 6))
    scores = model(tokens, lengths)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), (tokens % 4).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
