"""A helper that cuts a hidden state stands in the file, and the loop does not call it."""

import torch
from torch import nn


def repackage_hidden(h):
    """Wraps hidden states in new tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class LanguageModel(nn.Module):
    def __init__(self, words=11, width=6):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.embed(tokens), hidden)
        return self.out(output), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(1, batch, 6), weight.new_zeros(1, batch, 6)


def train(model, corpus, bptt=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = model.init_hidden(corpus.size(1))
    for i in range(0, corpus.size(0) - 1, bptt):
        length = min(bptt, corpus.size(0) - 1 - i)
        model.zero_grad()
        output, hidden = model(corpus[i : i + length], hidden)
        targets = corpus[i + 1 : i + 1 + length]
        loss = nn.functional.cross_entropy(output.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()


torch.manual_seed(9)
train(LanguageModel(), torch.randint(0, 11, (17, 3)))
