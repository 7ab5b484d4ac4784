import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, n_in, hidden_size, n_out):
        super().__init__()
        self.hidden_size = hidden_size
        self.encoder = nn.Embedding(n_in, hidden_size)
        self.rnn = nn.GRU(hidden_size, hidden_size)
        self.decoder = nn.Linear(hidden_size, n_out)

    def forward(self, inp, hidden):
        output, hidden = self.rnn(self.encoder(inp).unsqueeze(1), hidden)
        return self.decoder(output.squeeze(1)), hidden

    def init_hidden(self):
        return torch.zeros(1, 1, self.hidden_size)
