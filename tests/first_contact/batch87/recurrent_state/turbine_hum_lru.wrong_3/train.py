"""Bearing wear of wind turbines from the hum in the nacelle: linear recurrent units, read in chunks."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from lru import LRU
from recordings import Recording, make_recordings


@dataclass
class Settings:
    channels: int = 3
    width: int = 10
    poles: int = 12
    chunk: int = 16
    epochs: int = 2
    lr: float = 4e-3
    seed: int = 23


class HumMonitor(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.inlet = nn.Linear(s.channels, s.width)
        self.layers = nn.ModuleList(LRU(s.width, s.poles) for _ in range(2))
        self.outlet = nn.Linear(s.width, 1)
        self.forget()

    def forget(self):
        """To be called where a new recording begins."""
        self.memory = {}

    def forward(self, chunk):
        h = self.inlet(chunk)
        for depth, layer in enumerate(self.layers):
            state = self.memory.get(depth)
            if state is None:
                state = layer.at_rest(len(chunk))
            y, state = layer(h, state)
            self.memory[depth] = state.clone()
            h = h + F.gelu(y)
        return self.outlet(h).squeeze(-1)


@torch.no_grad()
def mean_error(model, recordings, s):
    total = 0.0
    for rec in recordings:
        model.forget()
        parts = [model(chunk) - wear for chunk, wear in rec.chunks(s.chunk)]
        total += torch.cat(parts, 1).abs().mean().item()
    return total / len(recordings)


def train_on(model, opt, rec: Recording, s: Settings):
    model.forget()
    seen = []
    for chunk, wear in rec.chunks(s.chunk):
        loss = F.smooth_l1_loss(model(chunk), wear)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        seen.append(loss.item())
    return sum(seen) / len(seen)


def main():
    s = Settings()
    torch.manual_seed(s.seed)
    recordings = make_recordings(5, s.channels)
    train, held_out = recordings[:4], recordings[4:]
    model = HumMonitor(s)
    opt = torch.optim.AdamW(model.parameters(), lr=s.lr, weight_decay=0.01)
    for epoch in range(s.epochs):
        losses = [train_on(model, opt, rec, s) for rec in train]
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}, held out {mean_error(model, held_out, s):.4f}")


if __name__ == "__main__":
    main()
