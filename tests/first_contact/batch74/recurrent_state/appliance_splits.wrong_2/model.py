import torch
import torch.nn as nn
import torch.nn.functional as F


class Disaggregator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp = nn.Linear(1, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, mains, hiddens=None):
        seen, hiddens = self.rnn(torch.tanh(self.inp(mains)), hiddens)
        return self.out(seen), hiddens

    def training_step(self, batch, batch_idx, hiddens):
        mains, appliance = batch
        guess, hiddens = self(mains, hiddens)
        return {"loss": F.mse_loss(guess, appliance), "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)
