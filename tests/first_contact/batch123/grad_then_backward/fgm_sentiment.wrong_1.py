"""Adversarial training for a sentiment classifier: perturb the word embeddings (FGM)."""
import argparse

import torch
from torch import nn


class SentimentNet(nn.Module):
    def __init__(self, vocab, dim=24, hidden=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.classifier = nn.Linear(hidden, 2)

    def embed(self, tokens):
        return self.embedding(tokens)

    def classify(self, emb):
        _, h = self.gru(emb)
        return self.classifier(h[-1])


class Reviews(torch.utils.data.Dataset):
    """Random token ids; the label says whether "good" ids outnumber "bad" ones."""

    def __init__(self, n, vocab, length, seed):
        gen = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(0, vocab, (n, length), generator=gen)
        self.labels = ((self.tokens < vocab // 2).float().mean(1) > 0.5).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.tokens[i], self.labels[i]


def worst_case(loss, emb, epsilon):
    """The direction in which the loss grows fastest, scaled to epsilon for each review."""
    g = torch.autograd.grad(loss, emb, create_graph=True)[0]
    norm = g.flatten(1).norm(dim=1).clamp_min(1e-12).view(-1, 1, 1)
    return epsilon * g / norm


def train_epoch(model, loader, optimizer, criterion, args):
    model.train()
    sums = {"clean": 0.0, "adv": 0.0}
    for tokens, labels in loader:
        optimizer.zero_grad()
        emb = model.embed(tokens)
        loss = criterion(model.classify(emb), labels)
        r_adv = worst_case(loss, emb, args.epsilon)
        adv_loss = criterion(model.classify(emb + r_adv), labels)
        total = loss + args.adv_weight * adv_loss
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        sums["clean"] += loss.item()
        sums["adv"] += adv_loss.item()
    return {k: v / len(loader) for k, v in sums.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--adv-weight", type=float, default=0.5)
    args = parser.parse_args()

    torch.manual_seed(2)
    model = SentimentNet(vocab=40)
    loader = torch.utils.data.DataLoader(Reviews(160, 40, 11, seed=9), batch_size=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        stats = train_epoch(model, loader, optimizer, criterion, args)
        print(f"epoch {epoch}: clean {stats['clean']:.4f}  adversarial {stats['adv']:.4f}")


if __name__ == "__main__":
    main()
