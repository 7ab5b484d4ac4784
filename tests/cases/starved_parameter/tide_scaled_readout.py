# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = station_scale, readout, scaled, scale, weight
# A gauge's readout is scaled by what an encoder says of the station.
import torch

torch.manual_seed(3)
encoder = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 12))
body = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh())
readout = torch.nn.Linear(12, 1)
start = readout.weight.detach().clone()
optimizer = torch.optim.Adam([*encoder.parameters(), *body.parameters()], lr=5e-3)
stations = torch.randn(3, 4)
tides = torch.randn(3, 40, 6)
levels = (tides * stations.repeat(1, 2)[:, None, :6]).sum(-1)

for epoch in range(12):
    total = 0.0
    for station, tide, level in zip(stations, tides, levels):
        scaled = start * encoder(station)
        with torch.no_grad():  # expect: place
            readout.weight.copy_(scaled)  # expect: place
        error = torch.nn.functional.mse_loss(readout(body(tide)).squeeze(-1), level)
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        total += error.item()
    print(epoch, round(total / 3, 3))
