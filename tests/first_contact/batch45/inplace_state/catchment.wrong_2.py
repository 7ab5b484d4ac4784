"""Calibrate a bucket model of a river catchment against observed discharge."""
import torch

torch.manual_seed(0)
DAYS = 40


def discharge(rain, heat, params):
    """Water balance per day; returns the runoff of every day (mm)."""
    rate = torch.sigmoid(params["rate"])
    power = 1.0 + torch.nn.functional.softplus(params["power"])
    dryness = torch.sigmoid(params["dryness"])
    storage = torch.zeros(DAYS + 1)
    storage[0] = 5.0
    runoff = []
    for day in range(DAYS):
        out = rate * (storage[day] / 10.0) ** power
        lost = dryness * heat[day] * storage[day]
        runoff.append(out)
        storage[day + 1] = (storage[day] + rain[day] - out - lost).item()
    return torch.stack(runoff)


def nash_sutcliffe(simulated, observed):
    return 1 - ((simulated - observed) ** 2).sum() / ((observed - observed.mean()) ** 2).sum()


rain = torch.relu(torch.randn(DAYS) * 4)
heat = 0.05 + 0.05 * torch.rand(DAYS)

level, observed = 5.0, []
for day in range(DAYS):
    out = 0.8 * (level / 10.0) ** 1.9
    observed.append(out)
    level = level + float(rain[day]) - out - 0.4 * float(heat[day]) * level
observed = torch.tensor(observed)

params = {
    "rate": torch.tensor(0.0, requires_grad=True),
    "power": torch.tensor(0.0, requires_grad=True),
    "dryness": torch.tensor(0.0, requires_grad=True),
}
adam = torch.optim.Adam(params.values(), lr=0.05)
for trial in range(25):
    adam.zero_grad()
    misfit = 1 - nash_sutcliffe(discharge(rain, heat, params), observed)
    misfit.backward()
    adam.step()
    if trial % 8 == 0:
        print(f"trial {trial}: efficiency {1 - misfit.item():.3f}")
