import torch
import torch.nn as nn


class StreamConv(nn.Module):
    """Causal 1-d convolution that can be fed piece by piece."""

    def __init__(self, c_in, c_out, width):
        super().__init__()
        self.conv = nn.Conv1d(c_in, c_out, width)
        self.context = width - 1
        self.tail = None

    def forward(self, x):
        if self.tail is None:
            self.tail = x.new_zeros(x.size(0), x.size(1), self.context)
        x = torch.cat([self.tail, x], dim=2)  # expect: place
        self.tail = x[:, :, -self.context:]  # expect: place
        return self.conv(x)


class WakeWordNet(nn.Module):
    def __init__(self, bands, classes, width=5, hidden=24):
        super().__init__()
        self.layers = nn.ModuleList([
            StreamConv(bands, hidden, width),
            StreamConv(hidden, hidden, width),
            StreamConv(hidden, hidden, width),
        ])
        self.head = nn.Conv1d(hidden, classes, 1)

    def start_stream(self):
        for layer in self.layers:
            layer.tail = None

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)
