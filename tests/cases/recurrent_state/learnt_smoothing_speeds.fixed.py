"""Groundwater below three fields: a smoothed level whose speeds are learnt with the forecast."""
import torch

torch.manual_seed(14)
keep = torch.nn.Parameter(torch.tensor([0.9, 0.8, 0.7]))
forecast = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD([keep, *forecast.parameters()], lr=0.05)
rain = torch.rand(40, 3)
wells = rain.cumsum(0) / torch.arange(1.0, 41.0)[:, None]

level = wells[0]
for begin in range(0, 36, 4):
    error = torch.zeros(())
    level = level.detach()
    for day in range(begin, begin + 4):
        level = keep * level + (1 - keep) * rain[day]
        error = error + (forecast(level) - wells[day + 1]).pow(2).mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
