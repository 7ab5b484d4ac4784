"""Embed who traded which spice with whom (translating embeddings, one relation after another)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(12)
torch.manual_seed(12)

RELATIONS = ["sold_to", "sailed_from", "taxed_by", "rival_of"]
N_ENTITIES, DIM, MARGIN = 30, 12, 1.0


class TransE(nn.Module):
    def __init__(self, n_entities, n_relations, dim):
        super().__init__()
        bound = 6 / np.sqrt(dim)
        self.entities = nn.Embedding(n_entities, dim)
        self.relations = nn.Embedding(n_relations, dim)
        nn.init.uniform_(self.entities.weight, -bound, bound)
        nn.init.uniform_(self.relations.weight, -bound, bound)

    def normalise(self):
        with torch.no_grad():
            self.entities.weight.copy_(F.normalize(self.entities.weight, dim=1))

    def distance(self, head, rel, tail):
        return (self.entities(head) + self.relations(rel) - self.entities(tail)).norm(p=2, dim=1)

    def forward(self, positive, negative):
        return F.relu(MARGIN + self.distance(*positive) - self.distance(*negative)).mean()


def triples_of(relation, count=24):
    heads = np.random.randint(0, N_ENTITIES, count)
    tails = (heads * (relation + 2) + relation) % N_ENTITIES
    return torch.from_numpy(heads), torch.full((count,), relation), torch.from_numpy(tails)


def corrupt(triples):
    head, rel, tail = triples
    other = torch.randint(0, N_ENTITIES, head.shape)
    coin = torch.rand(head.shape) < 0.5
    return torch.where(coin, other, head), rel, torch.where(coin, tail, other)


graph = {name: triples_of(k) for k, name in enumerate(RELATIONS)}
model = TransE(N_ENTITIES, len(RELATIONS), DIM)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
history = []
for epoch in range(6):
    loss = 0
    model.normalise()
    for name, triples in graph.items():
        loss += model(triples, corrupt(triples))
    loss.backward()
    optimizer.step()
    history.append(float(loss) / len(graph))
    print("epoch %d  mean loss %.4f" % (epoch, history[-1]))
