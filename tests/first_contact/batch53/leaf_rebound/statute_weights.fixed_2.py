# Tune the field weights of a statute search engine (title / headnote / body / citations)
# by gradient descent on a softmax over the candidate documents. Only 5 scalars, so
# I did not bother with an optimizer.
import torch
import torch.nn.functional as F

FIELDS = ["title", "headnote", "body", "citations"]


def build_index(n_docs, n_terms, seed):
    g = torch.Generator().manual_seed(seed)
    index = {}
    topic = torch.rand(n_docs, n_terms, generator=g) < 0.15
    for i, f in enumerate(FIELDS):
        noise = torch.rand(n_docs, n_terms, generator=g) < (0.02 + 0.08 * i)
        counts = (topic | noise).float()
        idf = torch.log(n_docs / (1 + counts.sum(0)))
        index[f] = F.normalize(counts * idf.clamp_min(0.1), dim=1)
    return index, topic


def make_queries(topic, n_queries, seed):
    g = torch.Generator().manual_seed(seed)
    relevant = torch.randint(0, topic.size(0), (n_queries,), generator=g)
    keep = torch.rand(n_queries, topic.size(1), generator=g) < 0.4
    stray = torch.rand(n_queries, topic.size(1), generator=g) < 0.05
    q = ((topic[relevant] & keep) | stray).float()
    return F.normalize(q, dim=1), relevant


def rank_scores(weights, index, q):
    total = 0
    for f in FIELDS:
        total = total + weights[f] * (q @ index[f].t())
    return total * torch.exp(weights["temperature"])


def mrr(scores, relevant):
    target = scores.gather(1, relevant[:, None])
    rank = (scores > target).sum(1) + 1
    return (1.0 / rank.float()).mean().item()


def tune(index, q, relevant, lr, n_iter):
    weights = {f: torch.tensor(0.5, requires_grad=True) for f in FIELDS}
    weights["temperature"] = torch.tensor(1.0, requires_grad=True)
    best = (0.0, None)
    for it in range(n_iter):
        scores = rank_scores(weights, index, q)
        loss = F.cross_entropy(scores, relevant)
        loss.backward()

        for name in weights:
            w = weights[name]
            with torch.no_grad():
                w -= lr * w.grad
            w.grad = None

        quality = mrr(scores.detach(), relevant)
        if quality > best[0]:
            best = (quality, {k: float(v) for k, v in weights.items()})
        if it % 10 == 0:
            print("%3d  loss %.4f  MRR %.3f" % (it, loss.item(), quality))
    return weights, best


torch.manual_seed(4)
index, topic = build_index(n_docs=120, n_terms=60, seed=4)
q, relevant = make_queries(topic, n_queries=80, seed=5)
weights, (quality, snapshot) = tune(index, q, relevant, lr=0.3, n_iter=40)
print("best MRR %.3f with" % quality, {k: round(v, 2) for k, v in snapshot.items()})
