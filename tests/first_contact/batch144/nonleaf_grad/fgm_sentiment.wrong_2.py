"""BiGRU sentiment classifier with adversarial training on the word embeddings."""
import random
from collections import Counter

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LambdaLR

POSITIVE = "great lovely charming superb funny touching brilliant warm".split()
NEGATIVE = "dull awful boring clumsy noisy flat weak tedious".split()
NEUTRAL = "the film a plot with its actors and music is was very scene story of".split()

MAX_LEN = 14
EPSILON = 0.5
EPOCHS = 3
BATCH = 32


def set_seed(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def write_review(label):
    words = random.choices(NEUTRAL, k=random.randint(5, MAX_LEN - 3))
    own, other = (POSITIVE, NEGATIVE) if label else (NEGATIVE, POSITIVE)
    words += random.choices(own, k=2)
    if random.random() < 0.3:
        words += random.choices(other, k=1)
    random.shuffle(words)
    return " ".join(words)


class Vocab:
    def __init__(self, texts):
        counts = Counter(w for t in texts for w in t.split())
        self.itos = ["<pad>", "<unk>"] + [w for w, _ in counts.most_common()]
        self.stoi = {w: k for k, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return torch.tensor([self.stoi.get(w, 1) for w in text.split()])


class SentimentGRU(nn.Module):
    def __init__(self, vocab_size, emb_dim=24, hidden=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=0)
        self.gru = nn.GRU(emb_dim, hidden, batch_first=True, bidirectional=True)
        self.attn = nn.Linear(2 * hidden, 1)
        self.out = nn.Linear(2 * hidden, 2)

    def encode(self, emb, mask):
        h, _ = self.gru(emb)
        score = self.attn(torch.tanh(h)).squeeze(-1).masked_fill(~mask, -1e4)
        pooled = (score.softmax(dim=1).unsqueeze(-1) * h).sum(dim=1)
        return self.out(pooled)

    def forward(self, ids):
        return self.encode(self.embedding(ids), ids != 0)


def batches(data, vocab, shuffle):
    order = list(range(len(data)))
    if shuffle:
        random.shuffle(order)
    for k in range(0, len(order), BATCH):
        chunk = [data[j] for j in order[k:k + BATCH]]
        ids = pad_sequence([vocab.encode(t) for t, _ in chunk], batch_first=True)
        yield ids, torch.tensor([y for _, y in chunk])


def train_epoch(model, data, vocab, criterion, optimizer, scheduler):
    model.train()
    clean_sum = adv_sum = 0.0
    for ids, labels in batches(data, vocab, shuffle=True):
        mask = ids != 0
        optimizer.zero_grad()

        emb = model.embedding(ids)
        loss = criterion(model.encode(emb, mask), labels)
        loss.backward()

        perturb = torch.zeros_like(emb)
        if emb.grad is not None:
            norm = emb.grad.norm(dim=-1, keepdim=True)
            perturb = EPSILON * emb.grad / (norm + 1e-8)

        adv_logits = model.encode(model.embedding(ids) + perturb, mask)
        loss_adv = criterion(adv_logits, labels)
        loss_adv.backward()

        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        clean_sum += loss.item()
        adv_sum += loss_adv.item()
    return clean_sum, adv_sum


@torch.no_grad()
def accuracy(model, data, vocab):
    model.eval()
    hits = 0
    for ids, labels in batches(data, vocab, shuffle=False):
        hits += (model(ids).argmax(dim=1) == labels).sum().item()
    return hits / len(data)


def main():
    set_seed(7)
    data = [(write_review(k % 2), k % 2) for k in range(360)]
    train, dev = data[:288], data[288:]
    vocab = Vocab([t for t, _ in train])
    model = SentimentGRU(len(vocab))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    steps = EPOCHS * (len(train) // BATCH)
    scheduler = LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 3) * max(0.05, 1 - s / steps))

    for epoch in range(EPOCHS):
        clean, adv = train_epoch(model, train, vocab, criterion, optimizer, scheduler)
        print(f"epoch {epoch}  clean {clean:.3f}  adv {adv:.3f}  dev acc {accuracy(model, dev, vocab):.3f}")


if __name__ == "__main__":
    main()
