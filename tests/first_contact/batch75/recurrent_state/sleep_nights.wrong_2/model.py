import torch
import torch.nn as nn


class SleepStager(nn.Module):
    """One thirty second epoch of polysomnography in, one sleep stage out."""

    def __init__(self, n_channels, hidden_dim, batch_size, n_stages):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.batch_size = batch_size
        self.lstm = nn.LSTM(n_channels, hidden_dim, batch_first=True)
        self.norm = nn.LayerNorm(hidden_dim)
        self.classifier = nn.Linear(hidden_dim, n_stages)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return (torch.zeros(1, self.batch_size, self.hidden_dim),
                torch.zeros(1, self.batch_size, self.hidden_dim))

    def forward(self, x):
        with torch.no_grad():
            out, self.hidden = self.lstm(x, self.hidden)
        last = self.norm(out[:, -1])
        return self.classifier(last)
