# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = hyper, generated, weights, flat, p
"""A hypernetwork writes the weights of a small dereverberation filter from the measures of the room. It does not learn."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Hyper(nn.Module):
    def __init__(self, room_dim, target):
        super().__init__()
        self.shapes = [(n, p.shape) for n, p in target.named_parameters()]
        total = sum(p.numel() for p in target.parameters())
        self.net = nn.Sequential(nn.Linear(room_dim, 32), nn.ReLU(), nn.Linear(32, total))

    def forward(self, room):
        flat = 0.3 * self.net(room)
        out, at = {}, 0
        for name, shape in self.shapes:
            size = shape.numel()
            out[name] = flat[at:at + size].view(shape)
            at += size
        return out


def load(target, generated):
    for name, p in target.named_parameters():
        p.data = generated[name].data  # expect: place


def room_and_echo():
    room = torch.rand(3)
    dry = torch.randn(24, 16)
    wet = dry + room[0] * dry.roll(1, 1) + room[1] * room[2] * dry.roll(3, 1)
    return room, wet, dry


torch.manual_seed(29)
target = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16))
hyper = Hyper(3, target)
optimizer = torch.optim.Adam(hyper.parameters(), lr=3e-3)
for it in range(20):
    room, wet, dry = room_and_echo()
    generated = hyper(room)
    load(target, generated)  # expect: place
    loss = F.mse_loss(target(wet), dry)  # expect: place
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 4 == 3:
        print(it, round(loss.item(), 4))
