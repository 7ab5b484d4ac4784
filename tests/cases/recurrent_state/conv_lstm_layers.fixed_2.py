"""Next-frame prediction with a stack of ConvLSTM cells."""
import torch
from torch import nn


class ConvLSTMCell(nn.Module):
    def __init__(self, in_ch, hid_ch, k=3):
        super().__init__()
        self.hid_ch = hid_ch
        self.gates = nn.Conv2d(in_ch + hid_ch, 4 * hid_ch, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class FramePredictor(nn.Module):
    def __init__(self, channels=(1, 4, 4)):
        super().__init__()
        self.cells = nn.ModuleList(
            ConvLSTMCell(a, b) for a, b in zip(channels[:-1], channels[1:])
        )
        self.to_frame = nn.Conv2d(channels[-1], 1, 1)
        self.states = None

    def reset(self, frame):
        b, _, h, w = frame.shape
        self.states = [
            (frame.new_zeros(b, cell.hid_ch, h, w), frame.new_zeros(b, cell.hid_ch, h, w))
            for cell in self.cells
        ]

    def forward(self, frame):
        if self.states is None:
            self.reset(frame)
        x = frame
        for n, cell in enumerate(self.cells):
            self.states[n] = cell(x, self.states[n])
            x = self.states[n][0]
        return self.to_frame(x)


torch.manual_seed(0)
model = FramePredictor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
video = torch.rand(5, 6, 2, 1, 8, 8)  # clips, frames, batch, channel, height, width

for clip in video:
    optimizer.zero_grad()
    loss = 0.0
    for now, following in zip(clip[:-1], clip[1:]):
        loss = loss + (model(now) - following).pow(2).mean()
    loss.backward()
    optimizer.step()
    model.states = [tuple(s.detach() for s in pair) for pair in model.states]
