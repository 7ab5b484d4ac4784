"""Set prediction: a fixed number of slots, matched one to one with the objects of each picture."""
from itertools import permutations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

NUM_CLASSES = 3  # and "nothing" as the last
NUM_SLOTS = 5
MAX_OBJECTS = 3


def assign(cost):
    """Cheapest one-to-one assignment; the sets are small enough to try them all."""
    n_slots, n_objects = cost.shape
    columns = np.arange(n_objects)
    best = min(permutations(range(n_slots), n_objects), key=lambda rows: cost[list(rows), columns].sum())
    return np.asarray(best, dtype=np.int64), columns


class SlotDetector(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(8, dim, 3, stride=2, padding=1), nn.ReLU())
        self.queries = nn.Parameter(torch.randn(NUM_SLOTS, dim) * 0.5)
        self.attend = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.class_head = nn.Linear(dim, NUM_CLASSES + 1)
        self.box_head = nn.Linear(dim, 4)

    def forward(self, images):
        memory = self.stem(images).flatten(2).transpose(1, 2)
        queries = self.queries.expand(len(images), -1, -1)
        slots = queries + self.attend(queries, memory, memory)[0]
        return {"logits": self.class_head(slots), "boxes": self.box_head(slots).sigmoid()}


class Matcher:
    def __init__(self, class_weight=1.0, box_weight=5.0):
        self.class_weight, self.box_weight = class_weight, box_weight

    def __call__(self, outputs, targets):
        pairs = []
        for logits, boxes, target in zip(outputs["logits"], outputs["boxes"], targets):
            prob = logits.softmax(-1)
            cost_class = -prob[:, target["labels"]]
            cost_box = torch.cdist(boxes, target["boxes"], p=1)
            cost = self.class_weight * cost_class + self.box_weight * cost_box
            rows, cols = assign(cost.cpu().numpy())
            pairs.append((torch.from_numpy(rows), torch.from_numpy(cols)))
        return pairs


class SetLoss(nn.Module):
    def __init__(self, matcher, empty_weight=0.2):
        super().__init__()
        self.matcher = matcher
        weight = torch.ones(NUM_CLASSES + 1)
        weight[-1] = empty_weight
        self.register_buffer("class_weight", weight)

    def forward(self, outputs, targets):
        pairs = self.matcher(outputs, targets)
        wanted = torch.full(outputs["logits"].shape[:2], NUM_CLASSES)
        box_loss, n_objects = 0.0, sum(len(t["labels"]) for t in targets)
        for i, (rows, cols) in enumerate(pairs):
            wanted[i, rows] = targets[i]["labels"][cols]
            box_loss = box_loss + F.l1_loss(outputs["boxes"][i, rows], targets[i]["boxes"][cols], reduction="sum")
        class_loss = F.cross_entropy(outputs["logits"].transpose(1, 2), wanted, self.class_weight)
        return {"class": class_loss, "box": 5.0 * box_loss / n_objects}


def sample_scene(rng):
    n = rng.integers(1, MAX_OBJECTS + 1)
    image = np.zeros((1, 16, 16), dtype=np.float32)
    boxes = np.concatenate([rng.uniform(0.2, 0.8, (n, 2)), rng.uniform(0.1, 0.3, (n, 2))], axis=1)
    labels = rng.integers(0, NUM_CLASSES, n)
    for (cx, cy, w, h), label in zip(boxes, labels):
        x0, x1 = int((cx - w / 2) * 16), int((cx + w / 2) * 16) + 1
        y0, y1 = int((cy - h / 2) * 16), int((cy + h / 2) * 16) + 1
        image[0, y0:y1, x0:x1] = (label + 1) / NUM_CLASSES
    return torch.from_numpy(image), {"labels": torch.from_numpy(labels), "boxes": torch.from_numpy(boxes).float()}


def loader(n_batches, batch_size, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        images, targets = zip(*(sample_scene(rng) for _ in range(batch_size)))
        yield torch.stack(images), list(targets)


def main():
    torch.manual_seed(11)
    model = SlotDetector()
    criterion = SetLoss(Matcher())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(2):
        for images, targets in loader(4, 6, seed=epoch):
            with torch.no_grad():
                outputs = model(images)
            parts = criterion(outputs, targets)
            loss = sum(parts.values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: class {parts['class'].item():.3f} box {parts['box'].item():.3f}")


if __name__ == "__main__":
    main()
