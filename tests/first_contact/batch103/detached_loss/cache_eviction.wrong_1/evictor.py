"""The policy: a score for every slot, and the slot to evict drawn from their softmax."""
import torch
from torch import nn
from torch.distributions import Categorical

from requests_stream import FEATURES


class Evictor(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, slots):
        return self.score(slots).squeeze(-1)

    @torch.no_grad()
    def choose(self, rows, greedy=False):
        """Which slot to evict, and the log-probability of that choice."""
        choice = Categorical(logits=self(torch.tensor(rows)))
        slot = choice.logits.argmax() if greedy else choice.sample()
        return slot.item(), choice.log_prob(slot)


def oldest(rows):
    """Least recently used, to compare with."""
    return max(range(len(rows)), key=lambda i: rows[i][0])
