"""Which two harbours will a ferry link next? Every harbour has a memory that its sailings update."""
import dataclasses

import torch
import torch.nn as nn

HARBOURS, MEMORY, CARGO, TIME = 18, 12, 3, 4


@dataclasses.dataclass
class Sailings:
    source: torch.Tensor
    target: torch.Tensor
    when: torch.Tensor
    cargo: torch.Tensor

    def __len__(self):
        return len(self.source)

    def part(self, start, stop):
        return Sailings(*(getattr(self, field.name)[start:stop] for field in dataclasses.fields(self)))


def log_book(n):
    source = torch.randint(0, HARBOURS, (n,))
    target = (source + 1 + torch.randint(0, 3, (n,))) % HARBOURS
    return Sailings(source, target, torch.rand(n).cumsum(0), torch.randn(n, CARGO))


class TimeEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(1, TIME)

    def forward(self, gap):
        return torch.cos(self.lin(gap.unsqueeze(-1)))


class HarbourMemory(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = TimeEncoder()
        self.cell = nn.GRUCell(MEMORY + CARGO + TIME, MEMORY)
        self.register_buffer("state", torch.zeros(HARBOURS, MEMORY))
        self.register_buffer("last_seen", torch.zeros(HARBOURS))

    def clear(self):
        self.state = torch.zeros(HARBOURS, MEMORY)
        self.last_seen = torch.zeros(HARBOURS)

    def store(self, sailings):
        """Take in sailings that the model has already been asked about."""
        for here, there in ((sailings.source, sailings.target), (sailings.target, sailings.source)):
            gap = sailings.when - self.last_seen[here]
            message = torch.cat([self.state[there], sailings.cargo, self.time(gap)], dim=1)
            fresh = self.cell(message, self.state[here])
            self.state = self.state.index_copy(0, here, fresh)
            self.last_seen = self.last_seen.index_copy(0, here, sailings.when)

    def detach_memory(self):
        self.state.detach()
        self.last_seen.detach()


class LinkModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = HarbourMemory()
        self.embed = nn.Linear(MEMORY, 16)
        self.score = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, source, target):
        z = torch.tanh(self.embed(self.memory.state))
        return self.score(torch.cat([z[source], z[target]], dim=1)).squeeze(1)


def run_epoch(model, book, optimizer, batch=20):
    model.train()
    model.memory.clear()
    criterion = nn.BCEWithLogitsLoss()
    earlier, total = None, 0.0
    for start in range(0, len(book), batch):
        now = book.part(start, start + batch)
        if earlier is not None:
            model.memory.store(earlier)
        elsewhere = torch.randint(0, HARBOURS, (len(now),))
        yes = model(now.source, now.target)
        no = model(now.source, elsewhere)
        loss = criterion(yes, torch.ones_like(yes)) + criterion(no, torch.zeros_like(no))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.memory.clear()
        earlier = now
        total += loss.item() * len(now)
    return total / len(book)


def main():
    torch.manual_seed(30)
    book = log_book(120)
    model = LinkModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        print(f"epoch {epoch + 1:02d}  loss {run_epoch(model, book, optimizer):.4f}")


if __name__ == "__main__":
    main()
