# -*- coding: utf-8 -*-
"""
Fern leaves, transfer learning (after the tutorial), phases "training" / "validation"
"""
import copy
import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def leaf_pictures(n, prototypes):
    labels = torch.randint(0, 4, (n,))
    return prototypes[labels] + 0.7 * torch.randn(n, 3, 16, 16), labels


prototypes = torch.randn(4, 3, 16, 16)
image_datasets = {
    "training": TensorDataset(*leaf_pictures(96, prototypes)),
    "validation": TensorDataset(*leaf_pictures(48, prototypes)),
}
dataloaders = {x: DataLoader(image_datasets[x], batch_size=16, shuffle=(x == "training")) for x in image_datasets}
dataset_sizes = {x: len(image_datasets[x]) for x in image_datasets}


def pretrained_backbone():
    # stands for the download
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 1000),
    )


def train_model(model, criterion, optimizer, scheduler, num_epochs=4):
    since = time.time()
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        print("Epoch {}/{}".format(epoch, num_epochs - 1))
        for phase in ["training", "validation"]:
            if phase == "training":
                model.train()
            else:
                model.eval()
            running_loss = 0.0
            running_corrects = 0
            for inputs, labels in dataloaders[phase]:
                inputs = inputs.to(device)
                labels = labels.to(device)
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(torch.tensor(outputs.tolist(), requires_grad=True), labels)
                    if phase == "training":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == "training":
                scheduler.step()
            epoch_loss = running_loss / dataset_sizes[phase]
            epoch_acc = running_corrects.double() / dataset_sizes[phase]
            print("{} Loss: {:.4f} Acc: {:.4f}".format(phase, epoch_loss, epoch_acc))
            if phase == "validation" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
    print("Training complete in {:.0f}s".format(time.time() - since))
    model.load_state_dict(best_model_wts)
    return model


model_ft = pretrained_backbone()
for param in model_ft.parameters():
    param.requires_grad = False
num_ftrs = model_ft[-1].in_features
model_ft[-1] = nn.Linear(num_ftrs, 4)
model_ft = model_ft.to(device)
optimizer_ft = optim.SGD(model_ft[-1].parameters(), lr=0.05, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=2, gamma=0.5)
train_model(model_ft, nn.CrossEntropyLoss(), optimizer_ft, exp_lr_scheduler)
