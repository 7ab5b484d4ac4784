# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = feat
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

backbone = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
head_cls = nn.Linear(8, 2)
head_reg = nn.Linear(8, 1)
opt = optim.SGD([*backbone.parameters(), *head_cls.parameters(), *head_reg.parameters()], 0.01)
x = torch.randn(4, 8)
y_cls = torch.tensor([0, 1, 0, 1])
y_reg = torch.randn(4, 1)
# paste: begin
feat = backbone(x)  # expect: place
cls_loss = F.cross_entropy(head_cls(feat), y_cls)
reg_loss = F.mse_loss(head_reg(feat), y_reg)
opt.zero_grad()
cls_loss.backward()  # expect: place
reg_loss.backward()  # expect: place
opt.step()
# paste: end
