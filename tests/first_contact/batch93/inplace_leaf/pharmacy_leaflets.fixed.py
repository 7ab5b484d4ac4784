"""Which section does a sentence of a package leaflet belong to? CNN on word vectors from the intranet corpus."""
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SECTIONS = {
    "dosage": "take tablet twice daily with water before meals maximum dose".split(),
    "warnings": "do not use if pregnant allergic ask doctor liver kidney".split(),
    "effects": "may cause nausea headache rash dizziness rare common sleep".split(),
    "storage": "keep below degrees dry out of reach children expiry carton".split(),
}
FILLER = "the a of and your this medicine is you or".split()


def write_leaflets(n, rng):
    rows = []
    for _ in range(n):
        section = rng.choice(list(SECTIONS))
        words = [rng.choice(SECTIONS[section]) if rng.random() < 0.4 else rng.choice(FILLER)
                 for _ in range(rng.randint(4, 12))]
        if rng.random() < 0.3:
            words.append("x%03d" % rng.randrange(30))
        rows.append((words, list(SECTIONS).index(section)))
    return rows


def load_vectors(dim, seed):
    """Stands in for the word2vec file; as there, not every word has a vector."""
    rs = np.random.RandomState(seed)
    vectors = {}
    for words in SECTIONS.values():
        theme = rs.randn(dim)
        vectors.update({w: (0.6 * theme + 0.8 * rs.randn(dim)).astype("float32") for w in words[:7]})
    vectors.update({w: (0.3 * rs.randn(dim)).astype("float32") for w in FILLER})
    return vectors


class Vocab:
    def __init__(self, rows):
        words = sorted({w for sentence, _ in rows for w in sentence})
        self.stoi = {"<pad>": 0, "<unk>": 1, **{w: i + 2 for i, w in enumerate(words)}}

    def __len__(self):
        return len(self.stoi)

    def batch(self, rows):
        longest = max(len(s) for s, _ in rows)
        ids = [[self.stoi.get(w, 1) for w in s] + [0] * (longest - len(s)) for s, _ in rows]
        return torch.LongTensor(ids), torch.LongTensor([y for _, y in rows])


class SectionCNN(nn.Module):
    def __init__(self, vocab, vectors, dim, filters=12):
        super(SectionCNN, self).__init__()
        self.embed = nn.Embedding(len(vocab), dim, padding_idx=0)
        found = 0
        for word, i in vocab.stoi.items():
            if word in vectors:
                with torch.no_grad():
                    self.embed.weight[i] = torch.from_numpy(vectors[word])
                found += 1
        print("vectors for %d of %d words" % (found, len(vocab)))
        self.convs = nn.ModuleList([nn.Conv1d(dim, filters, k, padding=k // 2) for k in (2, 3)])
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(2 * filters, len(SECTIONS))

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        pooled = [F.relu(conv(x)).max(dim=2)[0] for conv in self.convs]
        return self.out(self.drop(torch.cat(pooled, 1)))


def run():
    torch.manual_seed(76)
    rng = random.Random(76)
    train, dev = write_leaflets(160, rng), write_leaflets(60, rng)
    vocab = Vocab(train)
    net = SectionCNN(vocab, load_vectors(16, seed=7), 16)
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=5e-3)
    for epoch in range(4):
        net.train()
        rng.shuffle(train)
        running = 0.0
        for k in range(0, len(train), 20):
            ids, y = vocab.batch(train[k:k + 20])
            loss = F.cross_entropy(net(ids), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        net.eval()
        with torch.no_grad():
            ids, y = vocab.batch(dev)
            right = (net(ids).argmax(1) == y).float().mean().item()
        print("epoch %d  loss %.3f  dev %.2f" % (epoch, running / 8, right))


if __name__ == "__main__":
    run()
