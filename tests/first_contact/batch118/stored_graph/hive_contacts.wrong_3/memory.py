import torch
from torch import nn

from contacts import Contacts


class HiveMemory(nn.Module):
    """A state for every bee. What a contact says waits until one of the two is seen again."""

    def __init__(self, bees: int, width: int, traits: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(2 * width + traits, width)
        self.register_buffer("state", torch.zeros(bees, width))
        self.pending: dict[int, torch.Tensor] = {}

    def catch_up(self, bees: torch.Tensor) -> torch.Tensor:
        """Bring the states of `bees` up to date with what waits for them."""
        waiting = [bee for bee in bees.tolist() if bee in self.pending]
        if not waiting:
            return self.state
        rows = torch.tensor(waiting)
        news = torch.stack([self.pending.pop(bee) for bee in waiting])
        fresh = self.cell(news, self.state[rows])
        self.state = self.state.index_copy(0, rows, fresh.detach())
        return self.state

    def note(self, batch: Contacts) -> None:
        """Leave a message with both bees of every contact; the last one counts."""
        state = self.state
        for a, b, traits in zip(batch.first.tolist(), batch.second.tolist(), batch.traits):
            self.pending[a] = torch.cat([state[a], state[b], traits])
            self.pending[b] = torch.cat([state[b], state[a], traits])

    def release(self) -> None:
        """Cut the states off from the batch that is done."""
        self.state = self.state.detach()
