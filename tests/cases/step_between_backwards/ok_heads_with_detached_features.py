# expect: pattern = none
# A trunk with its own step between two walks: the probe behind it reads detached features.
import torch
from torch import nn

torch.manual_seed(0)
trunk, task_head, probe = nn.Linear(6, 12), nn.Linear(12, 2), nn.Linear(12, 5)
main_opt = torch.optim.AdamW([*trunk.parameters(), *task_head.parameters()], lr=1e-3)
probe_opt = torch.optim.AdamW(probe.parameters(), lr=1e-2)

for step in range(5):
    x = torch.randn(20, 6)
    features = torch.tanh(trunk(x))
    task_loss = nn.functional.cross_entropy(task_head(features), (x[:, 0] > 0).long())
    probe_loss = nn.functional.cross_entropy(probe(features.detach()), x[:, :5].argmax(1))
    for opt, loss in ((main_opt, task_loss), (probe_opt, probe_loss)):
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(step, task_loss.item(), probe_loss.item())
