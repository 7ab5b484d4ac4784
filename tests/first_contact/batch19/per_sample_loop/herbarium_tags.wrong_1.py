import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

# Herbarium sheets: several tags can be true for one sheet.
# Tags are rare, so every tag has its own weight and its own loss (I want to see them one by one).

TAGS = ["flower", "fruit", "root", "label torn", "mould", "type specimen"]


class SheetDataset(Dataset):
    def __init__(self, n_sheets, n_features=32):
        rate = torch.tensor([0.6, 0.3, 0.2, 0.15, 0.1, 0.05])
        g = torch.Generator().manual_seed(4)
        self.y = (torch.rand(n_sheets, len(TAGS), generator=g) < rate).float()
        mix = torch.randn(len(TAGS), n_features, generator=g)
        self.x = self.y @ mix + 0.5 * torch.randn(n_sheets, n_features, generator=g)

    def __len__(self):
        return self.x.size(0)

    def __getitem__(self, idx):
        return {"features": self.x[idx], "tags": self.y[idx]}


class TagNet(nn.Module):
    def __init__(self, n_features, n_hidden, n_tags):
        super(TagNet, self).__init__()
        self.bn = nn.BatchNorm1d(n_features)
        self.fc1 = nn.Linear(n_features, n_hidden)
        self.fc2 = nn.Linear(n_hidden, n_hidden)
        self.out = nn.Linear(n_hidden, n_tags)
        self.act = nn.SELU()

    def forward(self, x):
        x = self.bn(x)
        x = self.act(self.fc1(x))
        x = self.act(self.fc2(x))
        return self.out(x)


def f1(scores, tags):
    guess = scores > 0
    tp = (guess & tags.bool()).sum(0).float()
    return (2 * tp / (guess.sum(0) + tags.sum(0)).clamp(min=1)).tolist()


def train_one_epoch(model, loader, optimizer, losses_of_tags):
    model.train()
    per_tag = {t: 0.0 for t in TAGS}
    for batch in loader:
        scores = model(batch["features"])
        optimizer.zero_grad()
        for k, tag in enumerate(TAGS):
            loss = losses_of_tags[tag](scores[:, k], batch["tags"][:, k])
            if k == len(TAGS) - 1:
                loss.backward()
            per_tag[tag] += loss.item() / len(loader)
        optimizer.step()
    return per_tag


if __name__ == "__main__":
    torch.manual_seed(4)
    data = SheetDataset(160)
    loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
    rate = data.y.mean(0)
    losses_of_tags = {
        tag: nn.BCEWithLogitsLoss(pos_weight=((1 - r) / r.clamp(min=0.02)).clamp(max=10))
        for tag, r in zip(TAGS, rate)
    }
    model = TagNet(32, 40, len(TAGS))
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    for epoch in range(4):
        per_tag = train_one_epoch(model, loader, optimizer, losses_of_tags)
        print(epoch, "  ".join(f"{t}: {v:.3f}" for t, v in per_tag.items()))
    model.eval()
    with torch.no_grad():
        for tag, value in zip(TAGS, f1(model(data.x), data.y)):
            print(f"{tag:15s} F1 {value:.2f}")
