# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = flow
"""Forecast the next occupancy of road sensors; which sensor feeds which is learned."""
import argparse

import torch
from torch import nn


class RoadMixer(nn.Module):
    """Graph convolution over sensors whose links come from two embeddings."""

    def __init__(self, n_sensors, history, width, rank):
        super().__init__()
        self.upstream = nn.Parameter(0.3 * torch.randn(n_sensors, rank))
        self.downstream = nn.Parameter(0.3 * torch.randn(n_sensors, rank))
        affinity = torch.relu(self.upstream @ self.downstream.t())
        self.flow = torch.softmax(affinity, dim=1)  # expect: place
        self.lift = nn.Linear(history, width)
        self.self_path = nn.Linear(width, width)
        self.road_path = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, occupancy):
        # occupancy: (batch, sensors, history)
        hidden = torch.relu(self.lift(occupancy))
        arrived = torch.einsum("ij,bjw->biw", self.flow, hidden)  # expect: place
        hidden = torch.relu(self.self_path(hidden) + self.road_path(arrived))
        return self.head(hidden).squeeze(-1)


def simulate(n_sensors, hours, generator):
    """A ring road: what is at one sensor is at the next an hour later."""
    level = torch.rand(n_sensors, generator=generator)
    rows = []
    for _ in range(hours):
        inflow = 0.2 * torch.rand(n_sensors, generator=generator)
        level = 0.8 * level.roll(1) + inflow
        rows.append(level)
    return torch.stack(rows, dim=1)


def batches(series, history, size, generator):
    starts = torch.randperm(series.shape[1] - history, generator=generator)
    for chunk in starts.split(size):
        past = torch.stack([series[:, s:s + history] for s in chunk.tolist()])
        future = torch.stack([series[:, s + history] for s in chunk.tolist()])
        yield past, future


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sensors", type=int, default=9)
    parser.add_argument("--history", type=int, default=6)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(3)
    series = simulate(args.sensors, 120, generator)
    mixer = RoadMixer(args.sensors, args.history, args.width, args.rank)
    adam = torch.optim.Adam(mixer.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        seen, error = 0, 0.0
        for past, future in batches(series, args.history, 32, generator):
            adam.zero_grad()
            mse = nn.functional.mse_loss(mixer(past), future)
            mse.backward()  # expect: place
            adam.step()
            seen += len(past)
            error += mse.item() * len(past)
        print(f"epoch {epoch}: mse {error / seen:.4f}")


if __name__ == "__main__":
    main()
