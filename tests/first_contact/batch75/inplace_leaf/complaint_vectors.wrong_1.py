"""TextCNN that sorts letters of complaint to a waterworks, on top of word vectors from a file."""
import io

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = ["<pad>", "<unk>", "pipe", "burst", "bill", "wrong", "smell", "brown", "tap", "charged", "twice", "leak",
         "street", "taste", "meter", "refund"]
TOPICS = {0: ["pipe", "burst", "leak", "street"], 1: ["bill", "wrong", "charged", "twice", "meter", "refund"],
          2: ["smell", "brown", "tap", "taste"]}
DIM = 10


def vector_file(rng):
    """What `vectors.txt` holds: a word and its numbers on each line."""
    lines = []
    for word in VOCAB[2:-2]:
        lines.append(word + " " + " ".join(f"{v:.4f}" for v in rng.normal(0, 0.5, DIM)))
    return io.StringIO("\n".join(lines))


class TextCNN(nn.Module):
    def __init__(self, vocab, dim, n_classes, kernel_sizes=(2, 3)):
        super().__init__()
        self.stoi = {w: i for i, w in enumerate(vocab)}
        self.embedding = nn.Embedding(len(vocab), dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(dim, 12, k) for k in kernel_sizes])
        self.fc = nn.Linear(12 * len(kernel_sizes), n_classes)

    def load_vectors(self, handle):
        found = 0
        self.embedding.weight.requires_grad_(False)
        for line in handle:
            word, *values = line.split()
            if word in self.stoi:
                vector = torch.tensor([float(v) for v in values])
                self.embedding.weight[self.stoi[word]] = vector
                found += 1
        print(f"{found} of {len(self.stoi)} words have a vector")

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(1, 2)
        pooled = [F.relu(conv(x)).max(dim=2).values for conv in self.convs]
        return self.fc(torch.cat(pooled, dim=1))


def letters(n, rng, stoi, length=7):
    labels = rng.integers(0, 3, n)
    tokens = np.zeros((n, length), dtype=np.int64)
    for row, label in zip(tokens, labels):
        k = rng.integers(4, length + 1)
        row[:k] = [stoi[rng.choice(TOPICS[label])] if rng.random() < 0.7 else 1 for _ in range(k)]
    return torch.from_numpy(tokens), torch.from_numpy(labels)


torch.manual_seed(2)
rng = np.random.default_rng(2)
model = TextCNN(VOCAB, DIM, 3)
model.load_vectors(vector_file(rng))
x, y = letters(128, rng, model.stoi)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
