# The probe reads the trunk's features but must not shape them.
import torch
from torch import nn

torch.manual_seed(0)
trunk, head, probe = nn.Linear(5, 10), nn.Linear(10, 2), nn.Linear(10, 3)
opt = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.05)
opt_probe = torch.optim.SGD(probe.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(8, 5)
    features = torch.relu(trunk(x))
    main_loss = nn.functional.cross_entropy(head(features), (x[:, 0] > 0).long())
    opt.zero_grad()
    main_loss.backward()
    opt.step()
    probe_loss = nn.functional.cross_entropy(probe(features.detach()), x[:, :3].argmax(1))
    opt_probe.zero_grad()
    probe_loss.backward()
    opt_probe.step()
