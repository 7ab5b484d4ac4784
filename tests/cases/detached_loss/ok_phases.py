# expect: pattern = none
# expect: raises = nothing
import copy
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
loaders = {p: [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(2)] for p in ("train", "val")}
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(inplace=True), nn.Linear(12, 3))
optimizer = torch.optim.Adam(net.parameters())
history, best, best_acc = {"train": [], "val": []}, None, -1.0
for epoch in range(2):
    for phase, loader in loaders.items():
        net.train(phase == "train")
        losses, hits = [], 0
        for x, y in loader:
            with torch.set_grad_enabled(phase == "train"):
                out = net(x)
                loss = nn.functional.cross_entropy(out, y)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
            hits += int((np.argmax(out.detach().numpy(), 1) == y.numpy()).sum())
        history[phase].append(float(np.mean(losses)))
        if phase == "val" and hits > best_acc:
            best_acc, best = hits, copy.deepcopy(net)
print(history, best is not None)
