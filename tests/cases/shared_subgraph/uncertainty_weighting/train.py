# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = feats, preds
import torch

from losses import UncertaintyWeighting
from model import SharedNet

torch.manual_seed(19)
net = SharedNet(in_dim=6, width=18)
weighting = UncertaintyWeighting(["rotation", "translation"])
optimizer = torch.optim.Adam([*net.parameters(), *weighting.parameters()], lr=2e-3)

for step in range(4):
    x = torch.randn(10, 6)
    targets = {"rotation": x[:, :3].sin(), "translation": x[:, 3:]}
    preds = net(x)
    optimizer.zero_grad()
    for name, pred in preds.items():
        loss = weighting(name, pred, targets[name])
        loss.backward()  # expect: place
    optimizer.step()
