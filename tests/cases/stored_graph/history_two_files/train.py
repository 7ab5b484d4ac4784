# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.rows, history.rows, rows, self.history.rows, model.history.rows
# Minibatches of a graph: neighbours outside the batch come from the history of embeddings.
import torch
import torch.nn.functional as F
from torch import nn

from store import HistoryStore


class SAGE(nn.Module):
    def __init__(self, n, d_in, d_hid, d_out):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(2 * d_hid, d_out)
        self.history = HistoryStore(n, d_hid)

    def forward(self, x, ids, neighbours):
        h = F.elu(self.lin1(x[ids]))
        around = self.history.pull(neighbours.flatten()).view(*neighbours.shape, -1).mean(1)  # expect: place
        self.history.push(ids, h)  # expect: place
        return self.lin2(torch.cat([h, around], dim=1))


def train():
    torch.manual_seed(0)
    n = 20
    x, y = torch.randn(n, 5), torch.randint(0, 3, (n,))
    links = torch.randint(0, n, (n, 4))
    model = SAGE(n, 5, 8, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(2):
        for ids in torch.randperm(n).split(5):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x, ids, links[ids]), y[ids])
            loss.backward()  # expect: place
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    train()
