# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = history, curves, val_loss, scores
"""Hive weight from sensors. After each epoch the validation loss and the largest errors are kept for the plots."""
from collections import defaultdict

import torch
import torch.nn as nn


class HiveNet(nn.Module):
    def __init__(self, sensors=9):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(sensors, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def validate(model, x, y):
    model.eval()
    error = (model(x) - y).abs()  # expect: place
    model.train()
    return error.mean(), error.topk(3).values


torch.manual_seed(44)
x, mix = torch.randn(400, 9), torch.randn(9)
y = x @ mix + torch.sin(3 * x[:, 0])
model = HiveNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
history = defaultdict(list)
for epoch in range(15):
    for part in torch.randperm(320).split(80):
        loss = nn.functional.mse_loss(model(x[part]), y[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
    val_loss, worst = validate(model, x[320:], y[320:])
    history["train"].append(loss.item())
    history["val"].append(val_loss)  # expect: place
    history["worst"].append(worst)  # expect: place
    if val_loss <= min(history["val"]):
        best = {k: v.clone() for k, v in model.state_dict().items()}
print("train", [round(v, 3) for v in history["train"][::5]])
print("val", [round(float(v.detach()), 3) for v in history["val"][::5]])
