import torch
from torch import nn

torch.manual_seed(0)
n_nodes = 20
edges = torch.randint(0, n_nodes, (2, 60))
values = torch.ones(60) / 3
adjacency = torch.sparse_coo_tensor(edges, values, (n_nodes, n_nodes)).coalesce()


class GCN(nn.Module):
    def __init__(self, d_in, d_hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(n_nodes, d_in)
        self.w1, self.w2 = nn.Linear(d_in, d_hidden), nn.Linear(d_hidden, classes)

    def forward(self, adj):
        h = torch.relu(torch.sparse.mm(adj, self.w1(self.embed.weight)))
        return torch.sparse.mm(adj, self.w2(h))


gcn = GCN(6, 12, 3)
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.01, weight_decay=5e-4)
labels, train_mask = torch.randint(0, 3, (n_nodes,)), torch.rand(n_nodes) < 0.6
for epoch in range(4):
    gcn.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(gcn(adjacency)[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
    gcn.eval()
    with torch.no_grad():
        accuracy = (gcn(adjacency).argmax(1) == labels)[~train_mask].float().mean()
    print(epoch, loss.item(), accuracy.item())
