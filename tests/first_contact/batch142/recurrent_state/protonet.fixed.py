"""Bird calls, seven species, unbalanced: nearest-prototype classifier with running prototypes."""
# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.table, table, prototypes.table, prototypes, fresh
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)

SPECIES, DIM = 7, 16
RATE = torch.tensor([8.0, 5.0, 3.0, 1.0, 1.0, 0.5, 0.5])


@dataclass
class Prototypes:
    momentum: float = 0.9
    table: dict[int, torch.Tensor] = field(default_factory=dict)

    def observe(self, z, y):
        for label in y.unique().tolist():
            fresh = z[y == label].mean(dim=0)
            if label in self.table:
                fresh = torch.lerp(fresh, self.table[label], self.momentum)  # expect: place
            self.table[label] = F.normalize(fresh, dim=0).detach()

    def logits(self, z, temperature=0.2):
        known = sorted(self.table)
        out = z.new_full((len(z), SPECIES), -1e4)
        out[:, known] = z @ torch.stack([self.table[k] for k in known]).T / temperature  # expect: place
        return out


class CallEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(20, 24, 5, stride=2), nn.GELU(), nn.Conv1d(24, 24, 5, stride=2), nn.GELU())
        self.out = nn.Linear(24, DIM)

    def forward(self, mel):
        return F.normalize(self.out(self.conv(mel).mean(dim=-1)), dim=1)


songs = torch.randn(SPECIES, 20, 1)
encoder = CallEncoder()
prototypes = Prototypes()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-3)

for step in range(12):
    y = torch.multinomial(RATE, 16, replacement=True)
    mel = songs[y] + torch.randn(16, 20, 32)
    z = encoder(mel)
    prototypes.observe(z, y)
    loss = F.cross_entropy(prototypes.logits(z), y)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(f"{step:2d} loss {loss.item():.3f} species met {len(prototypes.table)}")
