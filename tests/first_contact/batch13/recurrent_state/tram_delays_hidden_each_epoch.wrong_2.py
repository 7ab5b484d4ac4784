"""Delays of a tram line, minute by minute. The LSTM keeps its hidden state in the model; it is reset at the start of an epoch."""
import torch
import torch.nn as nn


class DelayLSTM(nn.Module):
    def __init__(self, input_dim, hidden_dim, batch_size, output_dim=1, num_layers=2):
        super(DelayLSTM, self).__init__()
        self.hidden_dim = hidden_dim
        self.batch_size = batch_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_dim, output_dim)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return (torch.zeros(self.num_layers, self.batch_size, self.hidden_dim),
                torch.zeros(self.num_layers, self.batch_size, self.hidden_dim))

    def forward(self, x):
        lstm_out, self.hidden = self.lstm(x, self.hidden)
        self.hidden = tuple(s.detach() for s in self.hidden)
        return self.linear(lstm_out.detach())


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, series, window):
        self.model.train()
        self.model.hidden = self.model.init_hidden()
        losses = []
        for start in range(0, series.shape[1] - window, window):
            x = series[:, start:start + window]
            y = series[:, start + 1:start + window + 1, :1]
            self.model.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)


torch.manual_seed(17)
minutes = torch.arange(97.0)
delay = torch.stack([torch.sin(minutes / p) + 0.1 * torch.randn(97) for p in (4.0, 5.5, 7.0, 9.0)])
series = torch.stack([delay, delay.roll(1, 0)], dim=2)
trainer = Trainer(DelayLSTM(2, 12, batch_size=4), lr=0.02)
for epoch in range(3):
    print(epoch, round(trainer.train_epoch(series, 16), 4))
