# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = centres
"""Bird species from dawn-chorus recordings: nearest prototype on log-mel patches.

The prototypes are moving averages of the embeddings, one per species.
"""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

SPECIES = ["robin", "wren", "blackbird", "chiffchaff", "great tit"]


@dataclass
class Settings:
    mels: int = 16
    frames: int = 20
    embed: int = 12
    batch: int = 20
    steps: int = 40
    lr: float = 3e-3


@dataclass
class PrototypeBook:
    """species -> centre of its embeddings"""
    momentum: float = 0.8
    centres: dict = field(default_factory=dict)

    def refresh(self, emb, species):
        for s in species.unique().tolist():
            mean = emb[species == s].mean(dim=0)
            if s in self.centres:
                mean = self.momentum * self.centres[s] + (1 - self.momentum) * mean  # expect: place
            self.centres[s] = mean  # expect: place

    def score(self, emb):
        known = sorted(self.centres)
        table = torch.stack([self.centres[s] for s in known])  # expect: place
        return -torch.cdist(emb, table).pow(2), known


class PatchEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.out = nn.Linear(8 * (cfg.mels // 4) * (cfg.frames // 4), cfg.embed)

    def forward(self, patch):
        h = F.gelu(self.norm(self.conv(patch)))
        h = F.avg_pool2d(h, 4)
        return self.out(h.flatten(1))


def field_recording(cfg, generator):
    """Each species sings a sweep with its own start and slope."""
    species = torch.randint(len(SPECIES), (cfg.batch,), generator=generator)
    mel = torch.arange(cfg.mels).view(1, -1, 1).float()
    time = torch.arange(cfg.frames).view(1, 1, -1).float()
    start = 2.0 + 2.5 * species.view(-1, 1, 1)
    slope = 0.1 * (species.view(-1, 1, 1) - 2)
    patch = torch.exp(-(mel - start - slope * time).pow(2) / 2)
    noise = 0.3 * torch.randn(patch.shape, generator=generator)
    return (patch + noise).unsqueeze(1), species


def train(cfg):
    torch.manual_seed(20)
    generator = torch.Generator().manual_seed(21)
    encoder = PatchEncoder(cfg)
    book = PrototypeBook()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=cfg.lr)

    for step in range(cfg.steps):
        patch, species = field_recording(cfg, generator)
        emb = encoder(patch)
        book.refresh(emb, species)
        scores, known = book.score(emb)
        target = torch.tensor([known.index(s) for s in species.tolist()])
        loss = F.cross_entropy(scores, target)

        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        if step % 10 == 0 or step == cfg.steps - 1:
            hit = (scores.argmax(1) == target).float().mean().item()
            print(f"step {step:3d}  loss {loss.item():.3f}  hit rate {hit:.2f}")
    return encoder, book


if __name__ == "__main__":
    _, book = train(Settings())
    for s in sorted(book.centres):
        print(f"{SPECIES[s]:>10}: |centre| = {book.centres[s].norm().item():.2f}")
