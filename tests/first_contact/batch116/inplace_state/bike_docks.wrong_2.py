"""Which docks exchange bikes in the next hour? Every dock has a memory row that trips refresh."""

import torch
import torch.nn as nn
import torch.nn.functional as F

DOCKS = 18
SIZE = 10


def make_city(seed):
    """A ring of docks with a few short cuts, as a row-normalised adjacency matrix."""
    gen = torch.Generator().manual_seed(seed)
    adj = torch.eye(DOCKS)
    for dock in range(DOCKS):
        adj[dock, (dock + 1) % DOCKS] = adj[(dock + 1) % DOCKS, dock] = 1.0
    for a, b in torch.randint(DOCKS, (6, 2), generator=gen).tolist():
        adj[a, b] = adj[b, a] = 1.0
    return adj / adj.sum(1, keepdim=True)


def make_hours(count, trips, seed):
    """(from, to, duration and load of the trip) of each hour; a dock is in one trip an hour."""
    gen = torch.Generator().manual_seed(seed)
    for hour in range(count):
        order = torch.randperm(DOCKS, generator=gen)
        src, dst = order[:trips], order[trips : 2 * trips]
        gap = (src - dst).abs().float() / DOCKS
        rush = torch.full((trips,), float(hour % 12 in (4, 5)))
        yield src, dst, torch.stack([gap, rush], dim=1)


class DockMemory:
    def __init__(self):
        self.rows = torch.zeros(DOCKS, SIZE)

    def read(self, docks=None):
        return self.rows if docks is None else self.rows[docks]

    def write(self, docks, fresh):
        self.rows = self.rows.detach().clone()
        self.rows[docks] = fresh

    def cut(self):
        self.rows = self.rows.detach()


class TripModel(nn.Module):
    def __init__(self, adj):
        super().__init__()
        self.register_buffer("adj", adj)
        self.place = nn.Embedding(DOCKS, SIZE)
        self.mix = nn.Linear(SIZE, SIZE)
        self.refresh = nn.GRUCell(SIZE + 2, SIZE)
        self.score = nn.Sequential(nn.Linear(2 * SIZE, 16), nn.ReLU(), nn.Linear(16, 1))

    def surroundings(self, memory):
        return torch.tanh(self.adj @ self.mix(memory.read()) + self.place.weight)

    def forward(self, src, dst, around):
        return self.score(torch.cat([around[src], around[dst]], dim=1)).squeeze(1)

    def remember(self, memory, src, dst, trip, around):
        docks = torch.cat([src, dst])
        partners = torch.cat([dst, src])
        message = torch.cat([around[partners], trip.repeat(2, 1)], dim=1)
        memory.write(docks, self.refresh(message, memory.read(docks)))


def hour_loss(model, memory, hour):
    src, dst, trip = hour
    around = model.surroundings(memory)
    there = model(src, dst, around)
    nowhere = model(src, dst.roll(1), around)
    loss = F.softplus(-there).mean() + F.softplus(nowhere).mean()
    model.remember(memory, src, dst, trip, around)
    return loss


def windows(hours, length):
    window = []
    for hour in hours:
        window.append(hour)
        if len(window) == length:
            yield window
            window = []


def main():
    torch.manual_seed(1)
    model = TripModel(make_city(seed=4))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        memory = DockMemory()
        epoch_loss = 0.0
        for window in windows(make_hours(24, trips=6, seed=7), length=4):
            optimizer.zero_grad()
            loss = sum(hour_loss(model, memory, hour) for hour in window) / len(window)
            loss.backward()
            optimizer.step()
            memory.cut()
            epoch_loss += loss.item()
        print("epoch", epoch, "loss", round(epoch_loss / 6, 4))


main()
