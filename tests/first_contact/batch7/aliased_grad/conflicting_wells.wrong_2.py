"""Three wells, one aquifer model. Where the wells disagree, the conflicting part of a pull is taken away."""
import torch
import torch.nn as nn

torch.manual_seed(77)
aquifer = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.SGD(aquifer.parameters(), lr=0.05)


def pull_of(well):
    rain = torch.rand(16, 3)
    level = (well - 1) * rain.sum(1, keepdim=True) + 0.2 * well
    opt.zero_grad(set_to_none=False)
    loss = (aquifer(rain) - level).pow(2).mean()
    loss.backward()
    return loss.item(), [p.grad.view_as(p) for p in aquifer.parameters()]


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


for week in range(6):
    losses, pulls = zip(*(pull_of(well) for well in range(3)))
    settled = []
    for i, mine in enumerate(pulls):
        mine = [g + 0.0 for g in mine]
        for j, other in enumerate(pulls):
            overlap = dot(mine, other)
            if i != j and overlap < 0:
                mine = [m - overlap / dot(other, other) * o for m, o in zip(mine, other)]
        settled.append(mine)
    for p, *shares in zip(aquifer.parameters(), *settled):
        p.grad = torch.stack(shares).sum(0)
    opt.step()
    print(week, [round(v, 4) for v in losses])
