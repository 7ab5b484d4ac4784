import torch
from torch import nn


class WordModel(nn.Module):
    def __init__(self, n_words, n_emb, n_hid):
        super().__init__()
        self.encoder = nn.Embedding(n_words, n_emb)
        self.rnn = nn.LSTM(n_emb, n_hid)
        self.decoder = nn.Linear(n_hid, n_words)
        self.n_hid = n_hid

    def init_hidden(self, batch_size):
        zeros = torch.zeros(1, batch_size, self.n_hid)
        return (zeros, zeros.clone())

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.encoder(tokens), hidden)
        return self.decoder(output).flatten(0, 1), hidden
