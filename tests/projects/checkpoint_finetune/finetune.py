import os
import sys

import torch
import torch.nn as nn
import torchvision.models as models
from torchsummary import summary
from torchvision import datasets, transforms

arch = sys.argv[1] if len(sys.argv) > 1 else "resnet18"
names = sorted(n for n in models.__dict__ if n.islower() and not n.startswith("__") and callable(models.__dict__[n]))
assert arch in names
model = models.__dict__[arch](pretrained=False)
checkpoint = torch.load("checkpoints/best.pth.tar", map_location="cpu")
model.load_state_dict(checkpoint["state_dict"])
start_epoch = checkpoint["epoch"]
model.fc = nn.Linear(model.fc.in_features, 2)
for param in model.parameters():
    param.requires_grad = False
summary(model, (3, 64, 64))
_, term_width = os.popen("stty size", "r").read().split()

train = datasets.ImageFolder("data/train", transforms.Compose([transforms.RandomResizedCrop(64), transforms.ToTensor()]))
print(len(train.imgs), train.classes)
loader = torch.utils.data.DataLoader(train, batch_size=16, shuffle=True)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.01)
for epoch in range(start_epoch, start_epoch + 3):
    for images, target in loader:
        loss = nn.functional.cross_entropy(model(images.cuda()), target.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
