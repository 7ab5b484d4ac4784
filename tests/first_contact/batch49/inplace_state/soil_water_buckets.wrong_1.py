


# soil water balance for 30 fields, 25 days
# crop coefficient and drainage are found from probe readings, plus a small net for the
# infiltration (depends on slope / clay / cover)
# TODO: 2 layers

import torch
from torch.autograd import Variable
import torch.nn as nn
import numpy as np

torch.manual_seed(1234)
np.random.seed(1234)

n_field = 30
n_day = 25

# ---- weather (same station for all fields, rain is local) -------------------------------
pet = 3.0 + 2.0 * np.sin(np.linspace(0, 3, n_day))
rain = np.random.gamma(0.4, 12.0, size=(n_field, n_day))
site = np.random.rand(n_field, 3)                       # slope, clay, cover
start = 40 + 40 * np.random.rand(n_field)


# ---- truth, for the probe readings ------------------------------------------------------
def probe_readings():
    w = start.copy()
    out = [w.copy()]
    inf = 1.0 / (1.0 + np.exp(-(1.5 - 2.0 * site[:, 0] - site[:, 1] + site[:, 2])))
    for d in range(n_day):
        stress = np.clip((w - 15) / 60, 0, 1)
        w = w + inf * rain[:, d] - 0.9 * pet[d] * stress - 0.0009 * w ** 2
        out.append(w.copy())
    return np.stack(out, 1)


obs = Variable(torch.FloatTensor(probe_readings() + 0.5 * np.random.randn(n_field, n_day + 1)))
pet = Variable(torch.FloatTensor(pet))
rain = Variable(torch.FloatTensor(rain))
site = Variable(torch.FloatTensor(site))
start = Variable(torch.FloatTensor(start))


# ---- model ------------------------------------------------------------------------------
class Buckets(nn.Module):
    def __init__(self):
        super(Buckets, self).__init__()
        self.infiltration = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
        self.log_kc = nn.Parameter(torch.zeros(1))
        self.log_kd = nn.Parameter(torch.log(torch.Tensor([0.003])))
        self.half_sat = nn.Parameter(torch.Tensor([30.0]))

    def forward(self, start, rain, pet, site):
        kc = self.log_kc.exp()
        kd = self.log_kd.exp()
        inf = self.infiltration(site).squeeze(1)
        theta = Variable(torch.zeros(rain.size(0), rain.size(1) + 1))
        theta[:, 0] = start
        for d in range(rain.size(1)):
            now = theta[:, d].detach().clone()
            stress = now / (now + self.half_sat)
            drain = kd * now ** 2
            theta[:, d + 1] = now + inf * rain[:, d] - kc * pet[d] * stress - drain
        return theta


model = Buckets()
optimizer = torch.optim.Adam([
    {"params": model.infiltration.parameters(), "lr": 2e-2},
    {"params": [model.log_kc, model.log_kd], "lr": 5e-2},
    {"params": [model.half_sat], "lr": 0.5},
])

for epoch in range(40):
    optimizer.zero_grad()
    theta = model(start, rain, pet, site)
    loss = ((theta - obs) ** 2).mean()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "rmse (mm)", round(float(loss.data) ** 0.5, 2))

print("crop coefficient:", round(float(model.log_kc.data.exp()), 3))
print("drainage:", round(float(model.log_kd.data.exp()), 5))
