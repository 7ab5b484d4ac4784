import torch
import torch.nn as nn

torch.manual_seed(3)


class MultiTask(nn.Module):
    def __init__(self, n_tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.towers = nn.ModuleList([nn.Linear(32, 1) for _ in range(n_tasks)])

    def forward(self, x):
        shared = self.trunk(x)
        return [tower(shared) for tower in self.towers]


model = MultiTask(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
mse = nn.MSELoss()

for batch in range(4):
    x = torch.randn(16, 10)
    targets = [x.sum(1, keepdim=True), x.mean(1, keepdim=True), x.max(1, keepdim=True).values]
    outputs = model(x)
    losses = [mse(out, tgt) for out, tgt in zip(outputs, targets)]
    optimizer.zero_grad()
    sum(losses).backward()
    optimizer.step()
    print(batch, [f"{l.item():.3f}" for l in losses])
