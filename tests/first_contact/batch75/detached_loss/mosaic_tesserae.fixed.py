import copy
import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset


class TinyResNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 3, padding=1))
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.fc = nn.Linear(32, num_classes)

    def forward(self, x):
        x = self.stem(x)
        x = torch.relu(x + self.block(x))
        return self.fc(self.pool(x).flatten(1))


def get_pretrained():
    torch.manual_seed(21)
    return TinyResNet(num_classes=10)


def tesserae(n):
    """Tile chips photographed on white: glass, stone or terracotta."""
    y = torch.randint(0, 3, (n,))
    tint = torch.tensor([[0.2, 0.4, 0.8], [0.6, 0.6, 0.55], [0.8, 0.4, 0.2]])[y]
    return TensorDataset(tint[:, :, None, None] + 0.25 * torch.randn(n, 3, 8, 8), y)


def train_model(model, criterion, optimizer, scheduler, loaders, num_epochs=3):
    since = time.time()
    best_wts, best_acc = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            running_loss, running_corrects = 0.0, 0
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += (outputs.argmax(1) == labels).sum().item()
            if phase == "train":
                scheduler.step()
            size = len(loaders[phase].dataset)
            print(f"{epoch} {phase} loss {running_loss / size:.4f} acc {running_corrects / size:.3f}")
            if phase == "val" and running_corrects / size > best_acc:
                best_acc, best_wts = running_corrects / size, copy.deepcopy(model.state_dict())
    print(f"best val acc {best_acc:.3f}, {time.time() - since:.1f} s")
    model.load_state_dict(best_wts)
    return model


model_ft = get_pretrained()
for param in model_ft.parameters():
    param.requires_grad = False

model_ft.fc = nn.Linear(model_ft.fc.in_features, 3)

torch.manual_seed(0)
loaders = {"train": DataLoader(tesserae(96), batch_size=16, shuffle=True), "val": DataLoader(tesserae(32), batch_size=16)}
optimizer_ft = optim.SGD(model_ft.fc.parameters(), lr=0.05, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=2, gamma=0.1)
train_model(model_ft, nn.CrossEntropyLoss(), optimizer_ft, exp_lr_scheduler, loaders)
