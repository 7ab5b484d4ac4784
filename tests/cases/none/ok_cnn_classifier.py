import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class SmallCNN(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2)
        )
        self.classifier = nn.Linear(8 * 16, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


images = torch.rand(32, 1, 8, 8)
labels = torch.randint(0, 4, (32,))
loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
model = SmallCNN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
for epoch in range(2):
    model.train()
    running, correct = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
        correct += (out.argmax(1) == y).sum().item()
    scheduler.step()
    print(f"epoch {epoch}: loss {running / 32:.3f} acc {correct / 32:.2f}")
