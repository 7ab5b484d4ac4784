# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pitches, sung, heard, losses, other
"""Three voices of a choir: each learns its part, and follows what the others sing."""
import torch
import torch.nn.functional as F
from torch import nn


class Voice(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.breath = nn.Linear(4, width)
        self.tone = nn.Linear(width, 1)

    def forward(self, bar):
        return self.tone(torch.tanh(self.breath(bar)))


def follow(own, heard):
    return F.smooth_l1_loss(own, heard)  # expect: place


def rehearse(sung, name, part):
    loss = F.mse_loss(sung[name], part)
    for who, other in sung.items():
        if who != name:
            loss = loss + 0.2 * follow(sung[name], other)  # expect: place
    return loss


torch.manual_seed(9)
voices = {"alto": Voice(8), "tenor": Voice(6), "bass": Voice(10)}
optimizers = {name: torch.optim.SGD(voice.parameters(), lr=0.05) for name, voice in voices.items()}
for bar_number in range(8):
    bar = torch.randn(16, 4)
    part = bar.sum(1, keepdim=True).sin()
    sung = {name: voice(bar) for name, voice in voices.items()}  # expect: place
    for name in sung:
        optimizers[name].zero_grad()
        loss = rehearse(sung, name, part)  # expect: place
        loss.backward()  # expect: place
        optimizers[name].step()
    print(bar_number, round(loss.item(), 3))
