# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state, storages
#
# Differentiable bucket model with parameter learning: a small network maps catchment attributes to
# the parameters of a snow / soil / groundwater model. One optimiser step a hydrological year; the
# storages at the end of a year are where the next one starts.
import math

import torch
import torch.nn as nn

torch.manual_seed(2024)

N_CATCH, N_ATTR, DAYS, YEARS = 10, 5, 73, 6          # five-day means, 73 a year
BOUNDS = {"ddf": (0.5, 6.0), "tt": (-1.0, 1.5), "fc": (80.0, 300.0), "beta": (1.0, 4.0), "kq": (0.05, 0.5), "kg": (0.005, 0.08)}


def make_forcing(years):
    day = torch.arange(years * DAYS).float()
    season = torch.cos(2 * math.pi * (day / DAYS - 0.55))
    temp = 6.0 - 11.0 * season.unsqueeze(1) + 2.0 * torch.randn(len(day), N_CATCH)
    wet = (torch.rand(len(day), N_CATCH) < 0.45).float()
    rain = wet * torch.distributions.Exponential(0.12).sample((len(day), N_CATCH))
    pet = 2.2 * (1.0 - 0.8 * season).clamp(min=0.2).unsqueeze(1).expand(-1, N_CATCH)
    return temp, rain, pet


def scale(raw):
    """Unbounded network output -> parameters inside their bounds."""
    u = torch.sigmoid(raw)
    return {name: lo + (hi - lo) * u[:, i] for i, (name, (lo, hi)) in enumerate(BOUNDS.items())}


def one_step(storages, theta, temp, rain, pet):
    snowing = torch.sigmoid((theta["tt"] - temp) * 2.0)
    snow = storages["snow"] + snowing * rain
    melt = torch.minimum(snow, theta["ddf"] * torch.relu(temp - theta["tt"]))
    snow = snow - melt
    liquid = (1 - snowing) * rain + melt

    wetness = (storages["soil"] / theta["fc"]).clamp(1e-3, 1.0)
    recharge = liquid * wetness ** theta["beta"]
    soil = storages["soil"] + liquid - recharge
    soil = soil - torch.minimum(soil, pet * wetness)

    quick = theta["kq"] * (storages["quick"] + recharge)
    ground_in = 0.3 * (storages["quick"] + recharge - quick)
    base = theta["kg"] * (storages["ground"] + ground_in)
    out = {"snow": snow, "soil": soil,
           "quick": 0.7 * (storages["quick"] + recharge - quick),
           "ground": storages["ground"] + ground_in - base}
    return out, quick + base


def simulate(theta, storages, temp, rain, pet):
    flow = []
    for t in range(temp.shape[0]):
        storages, q = one_step({k: v.detach() for k, v in storages.items()}, theta, temp[t], rain[t], pet[t])
        flow.append(q)
    return torch.stack(flow), storages


def initial_storages():
    return {"snow": torch.zeros(N_CATCH), "soil": torch.full((N_CATCH,), 90.0),
            "quick": torch.full((N_CATCH,), 2.0), "ground": torch.full((N_CATCH,), 20.0)}


def log_nse(sim, obs):
    s, o = torch.log(sim + 0.1), torch.log(obs + 0.1)
    return ((s - o) ** 2).mean(0).div(o.var(0) + 1e-6).mean()


attributes = torch.randn(N_CATCH, N_ATTR)
temp, rain, pet = make_forcing(YEARS)
with torch.no_grad():
    truth = scale(attributes @ torch.randn(N_ATTR, len(BOUNDS)) * 0.6)
    observed, _ = simulate(truth, initial_storages(), temp, rain, pet)

net = nn.Sequential(nn.Linear(N_ATTR, 24), nn.Tanh(), nn.Linear(24, len(BOUNDS)))
opt = torch.optim.Adam(net.parameters(), lr=0.02)

for epoch in range(3):
    state = initial_storages()
    scores = []
    for year in range(YEARS):
        window = slice(year * DAYS, (year + 1) * DAYS)
        # warm start: own copies, so that the simulation can not touch last year's storages
        storages = {name: s.clone() for name, s in state.items()}  # expect: place
        theta = scale(net(attributes))
        flow, state = simulate(theta, storages, temp[window], rain[window], pet[window])  # expect: place
        loss = log_nse(flow, observed[window])
        opt.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        scores.append(1 - loss.item())
    print("epoch %d  log-NSE by year: %s" % (epoch, "  ".join("%.3f" % s for s in scores)))
