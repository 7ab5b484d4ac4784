# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = depth
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)

# %% weather at 30 stations, 20 days: temperature, precipitation, wind
B, T = 30, 20
weather = torch.stack([3 * torch.randn(B, T) - 2, torch.rand(B, T) * (torch.rand(B, T) < 0.4), torch.rand(B, T)], dim=2)
start = 2 * torch.rand(B)

truth = [start]
for day in range(T):
    temp, rain, wind = weather[:, day].unbind(1)
    fall = rain * torch.sigmoid(-2 * temp)
    melt = 0.05 * F.relu(temp) + 0.02 * wind * truth[-1]
    truth.append(F.relu(truth[-1] + fall - melt))
truth = torch.stack(truth, dim=1)
observed = truth + 0.02 * torch.randn_like(truth)


# %% model
class SnowModel(nn.Module):
    """Mass balance with learned fall and melt, rolled out from the first observation."""

    def __init__(self, hidden=16):
        super().__init__()
        self.fall = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, 1), nn.Softplus())
        self.melt = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1), nn.Sigmoid())

    def forward(self, weather, start):
        B, T, _ = weather.shape
        depth = torch.zeros(B, T + 1)
        depth[:, 0] = start
        for t in range(T):
            w = weather[:, t]
            fall = 0.1 * self.fall(w).squeeze(1)
            rate = 0.2 * self.melt(torch.cat([w, depth[:, t:t + 1]], dim=1)).squeeze(1)
            depth[:, t + 1] = depth[:, t] * (1 - rate) + fall  # expect: place
        return depth


# %% training
model = SnowModel()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for it in range(30):
    pred = model(weather, start)
    loss = F.mse_loss(pred[:, 1:], observed[:, 1:])
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
    if it % 10 == 0:
        print(it, loss.item())
