# Collaborative filtering by graph convolution; propagation runs over torch.sparse.
import torch
from torch import nn


class LightGCN(nn.Module):
    def __init__(self, n_users, n_items, edges, dim=8, layers=2):
        super().__init__()
        self.n_users, self.layers = n_users, layers
        self.embedding = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.adj = self.normalise(edges, n_users, n_users + n_items)
        self.user_out, self.item_out = self.propagate()

    @staticmethod
    def normalise(edges, n_users, n):
        u, i = edges[0], edges[1] + n_users
        index = torch.stack([torch.cat([u, i]), torch.cat([i, u])])
        degree = torch.zeros(n).scatter_add_(0, index[0], torch.ones(index.size(1))).clamp(min=1)
        value = (degree[index[0]] * degree[index[1]]).rsqrt()
        return torch.sparse_coo_tensor(index, value, (n, n)).coalesce()

    def propagate(self):
        x = self.embedding.weight
        outs = [x]
        for _ in range(self.layers):
            x = torch.sparse.mm(self.adj, x)
            outs.append(x)
        final = torch.stack(outs).mean(0)
        return final[: self.n_users], final[self.n_users :]

    def forward(self, users, pos, neg):
        u, p, n = self.user_out[users], self.item_out[pos], self.item_out[neg]
        return -nn.functional.logsigmoid((u * p).sum(1) - (u * n).sum(1)).mean()


torch.manual_seed(2020)
edges = torch.stack([torch.randint(0, 6, (30,)), torch.randint(0, 9, (30,))])
model = LightGCN(6, 9, edges)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    pick = torch.randint(0, 30, (16,))
    loss = model(edges[0][pick], edges[1][pick], torch.randint(0, 9, (16,)))
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
