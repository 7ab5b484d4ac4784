# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = generated, head, target, slot, slot.data, self.head
"""Hear which string of a violin sounds, in any room.

A hypernetwork reads the impulse response of the room and writes the weights of the small head
that classifies the features of the shared trunk.
"""
from dataclasses import dataclass, field
from typing import Dict, Tuple

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Layout:
    bins: int = 20
    response: int = 6
    width: int = 16
    strings: int = 4
    shapes: Dict[str, Tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self):
        self.shapes = {"weight": (self.strings, self.width), "bias": (self.strings,)}


class WeightWriter(nn.Module):
    """From a description of the room to a dict of tensors in the shapes of the head."""

    def __init__(self, layout):
        super().__init__()
        self.shapes = layout.shapes
        self.body = nn.Sequential(nn.Linear(layout.response, 24), nn.Tanh())
        self.writers = nn.ModuleDict({
            name: nn.Linear(24, torch.Size(shape).numel()) for name, shape in self.shapes.items()
        })

    def forward(self, response):
        code = self.body(response)
        return {name: self.writers[name](code).view(shape) for name, shape in self.shapes.items()}


class RoomAwareClassifier(nn.Module):
    def __init__(self, layout):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(layout.bins, 32), nn.GELU(),
                                   nn.Linear(32, layout.width), nn.GELU())
        self.writer = WeightWriter(layout)
        self.head = nn.Linear(layout.width, layout.strings)
        self.head.requires_grad_(False)  # its weights come from the writer

    def install(self, generated):
        for name, slot in self.head.named_parameters():
            slot.data.copy_(generated[name])  # expect: place

    def forward(self, spectra, response):
        generated = self.writer(response)  # expect: place
        self.install(generated)  # expect: place
        return self.head(self.trunk(spectra))  # expect: place


def rooms(layout, n_rooms, generator):
    tones = torch.rand(layout.strings, layout.bins, generator=generator) * 2
    mixing = torch.randn(layout.response, layout.strings, generator=generator)
    for _ in range(n_rooms):
        response = torch.randn(layout.response, generator=generator)
        shift = int(response[0] > 0)  # some rooms make a string sound like its neighbour
        y = torch.randint(layout.strings, (24,), generator=generator)
        heard = tones[(y + shift) % layout.strings]
        tilt = torch.tanh(response @ mixing)[y].unsqueeze(1)
        noise = 0.2 * torch.randn(24, layout.bins, generator=generator)
        yield heard + 0.2 * tilt + noise, response, y


def main():
    torch.manual_seed(8)
    layout = Layout()
    model = RoomAwareClassifier(layout)
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=4e-3, weight_decay=0.0)
    generator = torch.Generator().manual_seed(3)

    recent = []
    for n, (spectra, response, y) in enumerate(rooms(layout, 120, generator)):
        loss = F.cross_entropy(model(spectra, response), y)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        recent.append(loss.item())
        if n % 40 == 39:
            print(f"rooms {n + 1}: loss {sum(recent) / len(recent):.3f}")
            recent.clear()


if __name__ == "__main__":
    main()
