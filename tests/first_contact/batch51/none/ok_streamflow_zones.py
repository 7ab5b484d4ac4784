# expect: pattern = none
# expect: raises = nothing
"""Streamflow at nested gauges: an LSTM per elevation zone, states carried through the year, truncated BPTT."""
from collections import defaultdict

import torch
from torch import nn


def detached(state):
    if torch.is_tensor(state):
        return state.detach()
    if isinstance(state, dict):
        return {k: detached(v) for k, v in state.items()}
    return type(state)(detached(s) for s in state)


class ZoneModel(nn.Module):
    def __init__(self, zones, n_in=3, hidden=16):
        super().__init__()
        self.zones = zones
        self.cells = nn.ModuleDict({z: nn.LSTM(n_in, hidden) for z in zones})
        self.mix = nn.Linear(hidden * len(zones), hidden)
        self.out = nn.Linear(hidden, 1)

    def initial(self, batch):
        hidden = self.mix.out_features
        return {z: (torch.zeros(1, batch, hidden), torch.zeros(1, batch, hidden)) for z in self.zones}

    def forward(self, forcing, state):
        outs, new = [], {}
        for z in self.zones:
            y, new[z] = self.cells[z](forcing[z], state[z])
            outs.append(y)
        features = torch.cat(outs, dim=-1)
        return self.out(torch.tanh(self.mix(features))).squeeze(-1), new


def synthetic_year(zones, days, gauges):
    t = torch.arange(days).float()
    season = torch.sin(2 * torch.pi * t / 180).unsqueeze(1)
    forcing, flow = {}, torch.zeros(days, gauges)
    for k, z in enumerate(zones):
        temp = 3 * season - k + 0.5 * torch.randn(days, gauges)
        rain = torch.relu(torch.randn(days, gauges))
        forcing[z] = torch.stack([temp, rain, season.expand(-1, gauges)], dim=-1)
        store = torch.zeros(gauges)
        for d in range(days):
            store = 0.9 * store + rain[d] * torch.sigmoid(temp[d])
            flow[d] += 0.1 * store * (1 + 0.3 * k)      # plain data, nothing here is differentiated
    return forcing, flow


def chunks(forcing, flow, length):
    for start in range(0, flow.shape[0], length):
        part = slice(start, start + length)
        yield {z: f[part] for z, f in forcing.items()}, flow[part]


def main():
    torch.manual_seed(314)
    zones = ["low", "middle", "high"]
    forcing, flow = synthetic_year(zones, 180, 6)
    model = ZoneModel(zones)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    last_states = []
    curves = defaultdict(list)
    for epoch in range(6):
        state, running = model.initial(flow.shape[1]), 0.0
        for part, target in chunks(forcing, flow, 30):
            pred, state = model(part, state)
            loss = nn.functional.mse_loss(pred, target)
            optimizer.zero_grad()
            loss.backward()
            grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            state = detached(state)
            running += loss.detach()
            curves["grad"].append(grad_norm.item())
        last_states.append(state)
        curves["loss"].append(running.item() / 6)
        print("epoch %d  mse %.4f" % (epoch, curves["loss"][-1]))
    drift = (last_states[-1]["high"][1] - last_states[-2]["high"][1]).norm()
    print("drift of the cell state between the last two epochs %.3f" % drift.item())


if __name__ == "__main__":
    main()
