"""Tomorrow's tide from three days of the gauge: encoder and decoder, with teacher forcing."""
import argparse
import math
import random

import torch
import torch.nn as nn

PAST, AHEAD = 24, 8


def gauge(n):
    """Water level (m) and pressure (relative) every three hours."""
    t = torch.arange(PAST + AHEAD) * 3.0
    phase = torch.rand(n, 1) * 2 * math.pi
    level = torch.sin(2 * math.pi * t / 12.42 + phase) + 0.3 * torch.sin(2 * math.pi * t / 25.8 + phase)
    pressure = 0.1 * torch.randn(n, PAST + AHEAD).cumsum(1)
    series = torch.stack([level - 0.2 * pressure, pressure], dim=2)
    return series[:, :PAST], series[:, PAST:, :1]


class Encoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)

    def forward(self, past):
        states, last = self.rnn(past)
        return states, last.squeeze(0)


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.query = nn.Linear(hidden, hidden)

    def forward(self, hidden, states):
        weights = torch.softmax((states @ self.query(hidden).unsqueeze(2)).squeeze(2), dim=1)
        return (weights.unsqueeze(1) @ states).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.attend = Attention(hidden)
        self.cell = nn.GRUCell(1 + hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, level, hidden, states):
        context = self.attend(hidden, states)
        hidden = self.cell(torch.cat([level, context], dim=1), hidden)
        return level + self.out(torch.tanh(hidden)) * torch.exp(-level**2), hidden


class Seq2Seq(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.encoder, self.decoder = Encoder(hidden), Decoder(hidden)

    def forward(self, past, future=None, forcing=0.0):
        states, hidden = self.encoder(past)
        outputs = []
        level = past[:, -1, :1]
        for step in range(AHEAD):
            guess, hidden = self.decoder(level, hidden, states)
            outputs.append(guess)
            forced = future is not None and random.random() < forcing
            level = future[:, step] if forced else guess
        return torch.stack(outputs, dim=1)


def train(model, args):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    for epoch in range(args.epochs):
        forcing = max(0.0, 0.6 - 0.2 * epoch)
        total = 0.0
        for _ in range(args.batches):
            past, future = gauge(args.batch_size)
            optimizer.zero_grad()
            forecast = model(past, future, forcing)
            loss = criterion(forecast, future)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
            total += loss.item()
        print(f"Epoch {epoch + 1:02} | forcing {forcing:.1f} | train {total / args.batches:.4f} | test {test(model):.4f}")


def test(model):
    model.eval()
    with torch.no_grad():
        past, future = gauge(32)
        score = nn.functional.mse_loss(model(past), future).item()
    model.train()
    return score


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args([])
    random.seed(5)
    torch.manual_seed(5)
    train(Seq2Seq(options.hidden), options)
