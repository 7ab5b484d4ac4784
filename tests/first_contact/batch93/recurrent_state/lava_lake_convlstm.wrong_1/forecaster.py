"""Two convolutional LSTM layers that look at one thermal frame after another."""
from contextlib import contextmanager

import torch
from torch import nn


class ConvLSTMCell(nn.Module):
    def __init__(self, channels_in, channels, kernel=3):
        super().__init__()
        self.channels = channels
        self.gates = nn.Conv2d(channels_in + channels, 4 * channels, kernel, padding=kernel // 2)
        with torch.no_grad():
            self.gates.bias[channels:2 * channels].fill_(1.0)

    def blank(self, frame):
        shape = (frame.shape[0], self.channels, *frame.shape[2:])
        return frame.new_zeros(shape), frame.new_zeros(shape)

    def forward(self, x, h, c):
        i, f, g, o = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class LakeForecaster(nn.Module):
    def __init__(self, channels=(6, 6)):
        super().__init__()
        sizes = [1, *channels]
        self.cells = nn.ModuleList(ConvLSTMCell(a, b) for a, b in zip(sizes, channels))
        self.readout = nn.Conv2d(channels[-1], 1, 1)
        self.memory = None

    def forget(self):
        self.memory = None

    @contextmanager
    def aside(self):
        """Look at something else and come back to where the night was."""
        kept, self.memory = self.memory, None
        yield
        self.memory = kept

    def forward(self, frame):
        if self.memory is None:
            self.memory = [cell.blank(frame) for cell in self.cells]
        x, fresh = frame, []
        for cell, (h, c) in zip(self.cells, self.memory):
            h, c = cell(x, h, c)
            fresh.append((h, c))
            x = h
        self.memory = fresh
        return frame + self.readout(x)
