"""A net with an exit after every stage; deeper exits count more."""
import torch
from torch import nn

torch.manual_seed(1)


class ExitNet(nn.Module):
    def __init__(self, stages=3, width=20, classes=3):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(stages))
        self.exits = nn.ModuleList(nn.Linear(width, classes) for _ in range(stages))

    def forward(self, x):
        for stage, way_out in zip(self.stages, self.exits):
            x = stage(x)
            yield way_out(x)


leaves = torch.randn(90, 20)
kind = (leaves[:, :5].sum(1) > 0).long() + (leaves[:, 5:10].sum(1) > 0).long()
share = torch.tensor([0.2, 0.3, 0.5])

net = ExitNet()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.RMSprop(net.parameters(), lr=2e-3)

for epoch in range(6):
    for rows in torch.randperm(len(leaves)).split(30):
        per_exit = [criterion(scores, kind[rows]) for scores in net(leaves[rows])]
        objective = torch.dot(share, torch.tensor(per_exit, requires_grad=True))
        opt.zero_grad()
        objective.backward()
        opt.step()
    print(epoch, round(objective.item(), 4))
