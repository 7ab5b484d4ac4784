# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scores, per_query
"""ListNet on query/document features. Queries have different numbers of documents,
so a batch is one long table of documents and a list of lengths."""
import numpy as np
import torch
import torch.nn as nn


class QueryBatch:
    def __init__(self, docs, grades, lengths):
        self.docs = docs
        self.grades = grades
        self.lengths = lengths


def build_batches(n_batches, queries_per_batch, n_features, rng):
    taste = rng.normal(size=n_features)
    batches = []
    for _ in range(n_batches):
        lengths = rng.integers(4, 12, size=queries_per_batch).tolist()
        docs = rng.normal(size=(sum(lengths), n_features))
        utility = docs @ taste + rng.normal(scale=0.5, size=len(docs))
        grades = np.digitize(utility, [-2.0, 0.0, 2.0])
        batches.append(QueryBatch(
            torch.tensor(docs, dtype=torch.float32),
            torch.tensor(grades, dtype=torch.float32),
            lengths,
        ))
    return batches


class DocScorer(nn.Module):
    def __init__(self, n_features, width=32):
        super().__init__()
        self.norm = nn.LayerNorm(n_features)
        self.hidden = nn.Linear(n_features, width)
        self.score = nn.Linear(width, 1)

    def forward(self, docs):
        h = torch.relu(self.hidden(self.norm(docs)))
        return self.score(h).squeeze(-1)


def listnet(scores, grades):
    target = torch.softmax(grades, dim=0)
    return -(target * torch.log_softmax(scores, dim=0)).sum()


def ndcg(scores, grades, k=5):
    k = min(k, len(grades))
    discount = 1.0 / torch.log2(torch.arange(2, k + 2, dtype=torch.float32))
    gain = (2 ** grades - 1)
    best = (gain.sort(descending=True).values[:k] * discount).sum()
    got = (gain[scores.argsort(descending=True)[:k]] * discount).sum()
    return (got / best).item() if best > 0 else 1.0


class RankTrainer:
    def __init__(self, model, lr=0.02):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def update(self, batch):
        scores = self.model(batch.docs)  # expect: place
        per_query = scores.split(batch.lengths)  # expect: place
        total = 0.0
        # one update for every query, long lists should not dominate
        for s, g in zip(per_query, batch.grades.split(batch.lengths)):  # expect: place
            loss = listnet(s, g)  # expect: place
            self.optimizer.zero_grad()
            loss.backward()  # expect: place
            self.optimizer.step()  # expect: place
            total += loss.item()
        return total / len(batch.lengths)

    @torch.no_grad()
    def evaluate(self, batches):
        values = []
        for b in batches:
            for s, g in zip(self.model(b.docs).split(b.lengths), b.grades.split(b.lengths)):
                values.append(ndcg(s, g))
        return sum(values) / len(values)


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = build_batches(n_batches=8, queries_per_batch=6, n_features=12, rng=rng)
    train, held_out = data[:6], data[6:]
    trainer = RankTrainer(DocScorer(12))
    for epoch in range(3):
        losses = [trainer.update(b) for b in train]
        print(f"epoch {epoch}: listnet {np.mean(losses):.4f}  ndcg@5 {trainer.evaluate(held_out):.3f}")
