"""Key/value field extraction on scanned forms: token labels plus one box per token group."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LayoutEmbedding(nn.Module):
    def __init__(self, vocab, dim, grid=64):
        super().__init__()
        self.word = nn.Embedding(vocab, dim)
        self.x_pos = nn.Embedding(grid, dim)
        self.y_pos = nn.Embedding(grid, dim)
        self.grid = grid

    def forward(self, tokens, boxes):
        cells = (boxes * (self.grid - 1)).long()
        h = self.word(tokens)
        h = h + self.x_pos(cells[..., 0]) + self.x_pos(cells[..., 2])
        return h + self.y_pos(cells[..., 1]) + self.y_pos(cells[..., 3])


class FormReader(nn.Module):
    def __init__(self, vocab=120, dim=32, n_labels=5):
        super().__init__()
        self.embed = LayoutEmbedding(vocab, dim)
        self.mixer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.labeller = nn.Linear(dim, n_labels)
        self.box_head = nn.Linear(dim, 4)

    def decode_boxes(self, raw, anchors):
        """The head predicts the upper left corner and a size, relative to the token's own box."""
        x0, y0, x1, y1 = raw.sigmoid().unbind(dim=-1)
        width = anchors[..., 2] - anchors[..., 0]
        height = anchors[..., 3] - anchors[..., 1]
        x0 = anchors[..., 0] - x0 * width
        y0 = anchors[..., 1] - y0 * height
        x1.data += x0 + width
        y1.data += y0 + height
        return torch.stack([x0, y0, x1, y1], dim=-1)

    def forward(self, tokens, boxes):
        h = self.mixer(self.embed(tokens, boxes))
        return self.labeller(h), self.decode_boxes(self.box_head(h), boxes)


def iou_loss(pred, target):
    lt = torch.maximum(pred[..., :2], target[..., :2])
    rb = torch.minimum(pred[..., 2:], target[..., 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=-1)
    area = lambda b: (b[..., 2:] - b[..., :2]).clamp(min=0).prod(dim=-1)
    union = area(pred) + area(target) - inter
    return (1 - inter / union.clamp(min=1e-6)).mean()


def synthetic_pages(n_pages, n_tokens):
    tokens = torch.randint(120, (n_pages, n_tokens))
    corner = torch.rand(n_pages, n_tokens, 2) * 0.7
    size = torch.rand(n_pages, n_tokens, 2) * 0.2 + 0.02
    boxes = torch.cat([corner, corner + size], dim=-1)
    labels = (tokens % 5 + (corner[..., 0] > 0.35).long()) % 5
    grow = torch.rand(n_pages, n_tokens, 1) * 0.03
    fields = torch.cat([corner - grow, corner + size + grow], dim=-1)
    return tokens, boxes, labels, fields


def train_epoch(model, optimizer, pages, batch_size=4):
    model.train()
    log = {"labels": 0.0, "boxes": 0.0}
    parts = [p.split(batch_size) for p in pages]
    for tokens, boxes, labels, fields in zip(*parts):
        logits, pred = model(tokens, boxes)
        loss_cls = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss_box = F.l1_loss(pred, fields) + iou_loss(pred, fields)
        optimizer.zero_grad()
        (loss_cls + 2.0 * loss_box).backward()
        optimizer.step()
        log["labels"] += loss_cls.item()
        log["boxes"] += loss_box.item()
    return log


if __name__ == "__main__":
    torch.manual_seed(77)
    pages = synthetic_pages(12, 10)
    model = FormReader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(3):
        print(epoch, {k: round(v, 4) for k, v in train_epoch(model, optimizer, pages).items()})
