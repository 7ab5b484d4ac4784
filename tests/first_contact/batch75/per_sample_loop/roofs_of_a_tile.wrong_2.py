import torch
import torch.nn as nn
import torch.nn.functional as F


class TileEncoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(width, width, 3, padding=1), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class RoofHead(nn.Module):
    """Pitch (degrees / 45) of every roof in a list of boxes, however many there are."""

    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(width + 4, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, feature_map, boxes):
        rows = []
        for x0, y0, x1, y1 in boxes.tolist():
            rows.append(feature_map[:, y0:y1, x0:x1].mean(dim=(1, 2)))
        return self.fc(torch.cat([torch.stack(rows), boxes.float() / 16], dim=1)).squeeze(1)


def collate(n):
    """Aerial tiles; a steeper roof has a stronger contrast between its two halves."""
    tiles, boxes, pitches = 0.1 * torch.randn(n, 3, 16, 16), [], []
    for i in range(n):
        k = int(torch.randint(1, 5, (1,)))
        corner = torch.randint(0, 10, (k, 2))
        box = torch.cat([corner, corner + torch.randint(3, 7, (k, 2))], dim=1)
        pitch = torch.rand(k)
        for (x0, y0, x1, y1), p in zip(box.tolist(), pitch):
            mid = (y0 + y1) // 2
            tiles[i, :, y0:mid, x0:x1] += p
            tiles[i, :, mid:y1, x0:x1] -= 0.5 * p
        boxes.append(box)
        pitches.append(pitch)
    return tiles, boxes, pitches


def train_one_epoch(encoder, head, optimizer, n_batches=6, batch_size=6):
    encoder.train()
    head.train()
    epoch_loss = 0.0
    for _ in range(n_batches):
        tiles, boxes, pitches = collate(batch_size)
        optimizer.zero_grad()
        feature_maps = encoder(tiles)
        for feature_map, tile_boxes, tile_pitches in zip(feature_maps, boxes, pitches):
            pred = head(feature_map, tile_boxes)
            loss = F.smooth_l1_loss(pred, tile_pitches) / batch_size
            epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    return epoch_loss / n_batches


torch.manual_seed(12)
encoder, head = TileEncoder(), RoofHead()
optimizer = torch.optim.AdamW(list(encoder.parameters()) + list(head.parameters()), lr=3e-3)
for epoch in range(3):
    print(f"epoch {epoch} loss {train_one_epoch(encoder, head, optimizer):.4f}")
