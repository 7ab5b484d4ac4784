"""Moisture of grain from its dielectric response; running totals of an epoch go by name."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
response = torch.randn(60, 3)
moisture = response.mean(1, keepdim=True)
totals = {"loss": 0.0, "count": 0}
for x, y in zip(response.split(4), moisture.split(4)):
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    totals["loss"] += loss.item()
    totals["count"] += 1
print(float(totals["loss"]) / totals["count"])
