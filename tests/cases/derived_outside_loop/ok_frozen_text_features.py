# Class embeddings come from a frozen tower, made once: there is no graph behind them.
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
text_tower = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(24, 8)).requires_grad_(False)
image_tower = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))
scale = nn.Parameter(torch.tensor(2.0))
class_features = F.normalize(text_tower(torch.randint(0, 20, (4, 3))), dim=-1)
opt = torch.optim.Adam([*image_tower.parameters(), scale], lr=1e-3)
for _ in range(4):
    x, y = torch.randn(12, 10), torch.randint(0, 4, (12,))
    logits = scale.exp() * F.normalize(image_tower(x), dim=-1) @ class_features.t()
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
