# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.chunks, chunks, emb, memory, gallery
import argparse
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def fake_lookbook(n_items=24, dim=40, shots=8):
    """Street photos and shop photos of the same garments (already pooled features)."""
    proto = torch.randn(n_items, dim)
    ids = torch.arange(n_items).repeat_interleave(shots)
    street = proto[ids] + 0.8 * torch.randn(len(ids), dim)
    shop = proto[ids] + 0.3 * torch.randn(len(ids), dim)
    return street, shop, ids


class Tower(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.fc1 = nn.Linear(dim, 64)
        self.bn = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, out)

    def forward(self, x):
        return F.normalize(self.fc2(F.relu(self.bn(self.fc1(x)))), dim=1)


class GalleryMemory:
    """The last few batches of shop embeddings: more negatives than one batch has."""

    def __init__(self, n_batches):
        self.chunks = deque(maxlen=n_batches)
        self.ids = deque(maxlen=n_batches)

    def __len__(self):
        return len(self.chunks)

    def update(self, emb, ids):
        self.chunks.append(emb.detach())  # expect: place
        self.ids.append(ids.clone())

    def extend(self, emb, ids):
        """Gallery of the current batch with what is remembered."""
        if not self.chunks:
            return emb, ids
        return torch.cat([emb, *self.chunks]), torch.cat([ids, *self.ids])  # expect: place


def sup_contrast(query, query_ids, gallery, gallery_ids, tau=0.1):
    logits = query @ gallery.t() / tau
    same = (query_ids[:, None] == gallery_ids[None, :]).float()
    logp = F.log_softmax(logits, dim=1)
    return -((logp * same).sum(1) / same.sum(1)).mean()


def run(args):
    street, shop, ids = fake_lookbook()
    tower = Tower(street.shape[1], args.dim)
    memory = GalleryMemory(args.memory)
    opt = torch.optim.AdamW(tower.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        seen, total = 0, 0.0
        for batch in torch.randperm(len(ids)).split(args.batch):
            q, g, y = tower(street[batch]), tower(shop[batch]), ids[batch]
            gallery, gallery_ids = memory.extend(g, y)  # expect: place
            loss = sup_contrast(q, y, gallery, gallery_ids)
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
            memory.update(g, y)  # expect: place
            total += loss.item() * len(batch)
            seen += len(batch)
        print(f"epoch {epoch}  contrast {total / seen:.4f}  remembered batches {len(memory)}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=48)
    ap.add_argument("--memory", type=int, default=3)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--lr", type=float, default=3e-3)
    torch.manual_seed(11)
    run(ap.parse_args([]))
