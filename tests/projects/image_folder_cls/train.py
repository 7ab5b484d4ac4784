import glob
import os

import albumentations as A
import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import models

from config import cfg


class Images(Dataset):
    def __init__(self, pattern):
        self.files = sorted(glob.glob(pattern))
        self.augment = A.Compose([A.HorizontalFlip(p=0.5)])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        image = cv2.resize(image, (cfg.size, cfg.size))
        return torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1), index % 2


model = models.resnet18(pretrained=True)
model.fc = nn.Linear(model.fc.in_features, 2)
loader = DataLoader(Images(os.path.join(cfg.root, "*.jpg")), batch_size=cfg.batch_size)
optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
criterion = nn.CrossEntropyLoss()
running_loss = 0
for epoch in range(cfg.epochs):
    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss
    print(epoch, running_loss / len(loader))
