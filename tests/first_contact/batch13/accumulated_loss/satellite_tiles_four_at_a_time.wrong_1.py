"""Cloud cover of satellite tiles. The card holds four tiles only, so gradients are accumulated over four small batches."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tiles(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(1)
        self.cover = torch.rand(n, generator=g)
        noise = torch.rand(n, 1, 16, 16, generator=g)
        self.tiles = (noise < self.cover[:, None, None, None]).float()

    def __len__(self):
        return len(self.cover)

    def __getitem__(self, i):
        return self.tiles[i], self.cover[i]


class CloudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Linear(8 * 4 * 4, 1)

    def forward(self, x):
        return torch.sigmoid(self.head(self.features(x).flatten(1))).squeeze(1)


def train_one_epoch(model, loader, optimizer, accumulation_steps):
    criterion = nn.BCELoss()
    model.train()
    total_loss = 0.0
    optimizer.zero_grad()
    for i, (tiles, cover) in enumerate(loader, 1):
        loss = criterion(model(tiles), cover) / accumulation_steps
        total_loss += loss
        total_loss.backward(retain_graph=True)
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            total_loss = 0.0
    return loss.item() * accumulation_steps


torch.manual_seed(1)
loader = DataLoader(Tiles(64), batch_size=4, shuffle=True)
model = CloudNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    print(epoch, round(train_one_epoch(model, loader, optimizer, accumulation_steps=4), 4))
