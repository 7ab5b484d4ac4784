"""Per-species queues of embeddings that serve as extra positives and negatives."""
from collections import deque

import torch


class ClassBank:
    """One bounded queue a species; the oldest embedding falls out first."""

    def __init__(self, species, depth=6):
        self.queues = {s: deque(maxlen=depth) for s in range(species)}

    def __len__(self):
        return sum(len(q) for q in self.queues.values())

    def push(self, emb, labels):
        for vec, lab in zip(emb, labels.tolist()):
            self.queues[lab].append(vec)  # expect: place

    def contents(self):
        vecs, labs = [], []
        for s, queue in self.queues.items():
            vecs.extend(queue)
            labs.extend([s] * len(queue))
        return torch.stack(vecs), torch.tensor(labs)  # expect: place


def bank_contrast(emb, labels, bank, temperature=0.2):
    keys, key_labels = bank.contents()
    logits = emb @ keys.t() / temperature
    same = (labels[:, None] == key_labels[None]).float()
    log_prob = logits.log_softmax(dim=1)
    hits = same.sum(1).clamp(min=1.0)
    return -((log_prob * same).sum(1) / hits).mean()
