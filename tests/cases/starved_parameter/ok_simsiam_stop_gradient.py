# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
encoder = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
predictor = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
opt = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)


def distance(p, z):
    return -nn.functional.cosine_similarity(p, z.detach(), dim=1).mean()


for step in range(5):
    x = torch.randn(32, 10)
    z1, z2 = (encoder(x + 0.1 * torch.randn_like(x)) for _ in range(2))
    loss = 0.5 * (distance(predictor(z1), z2) + distance(predictor(z2), z1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
