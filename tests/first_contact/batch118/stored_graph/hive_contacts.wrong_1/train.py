"""Predict which bees of an observation hive will meet next, from a stream of contacts."""

import torch
import torch.nn.functional as F
from torch import nn

from contacts import contact_stream
from memory import HiveMemory

BEES, WIDTH, TRAITS = 24, 12, 3


class MeetingScore(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Linear(2 * width, 16), nn.Tanh(), nn.Linear(16, 1))
        self.names = nn.Embedding(BEES, width)

    def forward(self, state: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        left = state[a] + self.names(a)
        right = state[b] + self.names(b)
        return self.mix(torch.cat([left, right], dim=-1)).squeeze(-1)


def ranking_loss(met: torch.Tensor, missed: torch.Tensor) -> torch.Tensor:
    yes = F.binary_cross_entropy_with_logits(met, torch.ones_like(met))
    no = F.binary_cross_entropy_with_logits(missed, torch.zeros_like(missed))
    return yes + no


def main() -> None:
    torch.manual_seed(11)
    memory = HiveMemory(BEES, WIDTH, TRAITS)
    score = MeetingScore(WIDTH)
    optimizer = torch.optim.Adam([*memory.parameters(), *score.parameters()], lr=3e-3)

    for number, batch in enumerate(contact_stream(BEES, TRAITS, batches=8, size=10)):
        optimizer.zero_grad()
        seen = torch.unique(torch.cat([batch.first, batch.second, batch.stranger]))
        state = memory.catch_up(seen)
        met = score(state, batch.first, batch.second)
        missed = score(state, batch.first, batch.stranger)
        loss = ranking_loss(met, missed)
        memory.note(batch)
        loss.backward(retain_graph=True)
        optimizer.step()
        memory.release()
        print(f"batch {number}: {loss.item():.4f}, {len(memory.pending)} bees waiting")


if __name__ == "__main__":
    main()
