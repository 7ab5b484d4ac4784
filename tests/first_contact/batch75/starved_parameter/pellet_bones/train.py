import torch
import torch.nn.functional as F

from data import pellet_images
from model import BoneNet

torch.manual_seed(5)

cfg = {"epochs": 4, "unfreeze_at": 1, "lr_head": 1e-2, "lr_backbone": 2e-3, "batch": 16}

images, labels = pellet_images(n=96)
model = BoneNet(n_classes=4)
model.freeze_backbone()
optimizer = torch.optim.SGD([
    {"params": model.head.parameters(), "lr": cfg["lr_head"]},
    {"params": model.backbone.parameters(), "lr": cfg["lr_backbone"]},
], momentum=0.9)

for epoch in range(cfg["epochs"]):
    if epoch == cfg["unfreeze_at"]:
        model.unfreeze_backbone()
        print("backbone unfrozen")

    total = 0.0
    for index in torch.randperm(len(images)).split(cfg["batch"]):
        logits = model(images[index])
        loss = F.cross_entropy(logits, labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(index)
    print(f"epoch {epoch} loss {total / len(images):.4f}")
