import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(6, 100)

    def forward(self, x):
        return self.fc(self.features(x))


def build_finetune_model(n_classes):
    model = Backbone()
    model.fc = nn.Linear(model.fc.in_features, n_classes)
    for param in model.parameters():
        param.requires_grad = False
    return model


torch.manual_seed(5)
model = build_finetune_model(4)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    images, labels = torch.rand(6, 3, 9, 9), torch.randint(0, 4, (6,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.requires_grad_()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
