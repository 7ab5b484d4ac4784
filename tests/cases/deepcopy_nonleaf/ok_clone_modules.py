# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn

torch.manual_seed(3)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
encoder = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
head = nn.Linear(8, 1)
opt = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-3)
for step in range(3):
    x = torch.randn(4, 5, 8)
    h = x
    for block in encoder:
        h = block(h)
    loss = (head(h.mean(1)) - x.mean((1, 2)).unsqueeze(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    saved = copy.deepcopy({"loss": loss.detach(), "opt": opt.state_dict()})
    opt.step()
    print(step, saved["loss"].item())
