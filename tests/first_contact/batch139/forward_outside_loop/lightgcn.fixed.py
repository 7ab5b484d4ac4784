



"""LightGCN with BPR loss on synthetic implicit feedback."""
import random
from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

config = dict(n_users=40, n_items=60, dim=16, n_layers=2, batch_size=64, epochs=3, lr=0.01, reg=1e-4, topk=10, seed=2020)


class InteractionData:
    def __init__(self, n_users, n_items, per_user=8):
        rng = np.random.default_rng(5)
        self.n_users, self.n_items = n_users, n_items
        self.train, self.test = [], defaultdict(set)
        for u in range(n_users):
            liked = rng.choice(n_items, size=per_user, replace=False)
            self.train += [(u, int(i)) for i in liked[:-2]]
            self.test[u].update(int(i) for i in liked[-2:])
        self.positives = defaultdict(set)
        for u, i in self.train:
            self.positives[u].add(i)

    def adjacency(self):
        n = self.n_users + self.n_items
        edges = torch.tensor(self.train).t()
        rows = torch.cat([edges[0], edges[1] + self.n_users])
        cols = torch.cat([edges[1] + self.n_users, edges[0]])
        deg = torch.bincount(rows, minlength=n).clamp(min=1).float()
        values = (deg[rows] * deg[cols]).rsqrt()
        return torch.sparse_coo_tensor(torch.stack([rows, cols]), values, (n, n)).coalesce()

    def batches(self, batch_size):
        order = self.train[:]
        random.shuffle(order)
        for start in range(0, len(order), batch_size):
            chunk = order[start:start + batch_size]
            negatives = []
            for u, _ in chunk:
                j = random.randrange(self.n_items)
                while j in self.positives[u]:
                    j = random.randrange(self.n_items)
                negatives.append(j)
            users, pos = zip(*chunk)
            yield torch.tensor(users), torch.tensor(pos), torch.tensor(negatives)


class LightGCN(nn.Module):
    def __init__(self, data, dim, n_layers):
        super().__init__()
        self.user_embedding = nn.Embedding(data.n_users, dim)
        self.item_embedding = nn.Embedding(data.n_items, dim)
        nn.init.normal_(self.user_embedding.weight, std=0.1)
        nn.init.normal_(self.item_embedding.weight, std=0.1)
        self.n_layers = n_layers
        self.graph = data.adjacency()

    def forward(self):
        ego = torch.cat([self.user_embedding.weight, self.item_embedding.weight])
        layers = [ego]
        for _ in range(self.n_layers):
            layers.append(torch.sparse.mm(self.graph, layers[-1]))
        final = torch.stack(layers, dim=1).mean(dim=1)
        return final.split([self.user_embedding.num_embeddings, self.item_embedding.num_embeddings])

    def ego_norm(self, users, pos, neg):
        u, p, n = self.user_embedding(users), self.item_embedding(pos), self.item_embedding(neg)
        return (u.pow(2).sum() + p.pow(2).sum() + n.pow(2).sum()) / (2 * len(users))


def bpr_loss(u, p, n):
    return F.softplus((u * n).sum(1) - (u * p).sum(1)).mean()


def train_one_epoch(model, data, optimizer, cfg):
    model.train()
    running = 0.0
    for users, pos, neg in data.batches(cfg["batch_size"]):
        user_emb, item_emb = model()
        loss = bpr_loss(user_emb[users], item_emb[pos], item_emb[neg])
        loss = loss + cfg["reg"] * model.ego_norm(users, pos, neg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(users)
    return running / len(data.train)


@torch.no_grad()
def recall_at_k(model, data, k):
    model.eval()
    user_emb, item_emb = model()
    scores = user_emb @ item_emb.t()
    for u, i in data.train:
        scores[u, i] = float("-inf")
    top = scores.topk(k, dim=1).indices.tolist()
    return float(np.mean([len(data.test[u] & set(top[u])) / len(data.test[u]) for u in data.test]))


if __name__ == "__main__":
    random.seed(config["seed"])
    torch.manual_seed(config["seed"])
    dataset = InteractionData(config["n_users"], config["n_items"])
    recmodel = LightGCN(dataset, config["dim"], config["n_layers"])
    opt = torch.optim.Adam(recmodel.parameters(), lr=config["lr"])
    for epoch in range(config["epochs"]):
        avg = train_one_epoch(recmodel, dataset, opt, config)
        print(f"EPOCH[{epoch + 1}/{config['epochs']}] bpr {avg:.4f} recall@{config['topk']} {recall_at_k(recmodel, dataset, config['topk']):.4f}")
