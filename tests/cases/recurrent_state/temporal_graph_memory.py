# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.memory, memory
"""Link prediction on a stream of events with a node memory (in the manner of TGN)."""
import torch
import torch.nn as nn


class NodeMemory(nn.Module):
    def __init__(self, num_nodes, dim):
        super().__init__()
        self.updater = nn.GRUCell(2 * dim, dim)
        self.register_buffer("memory", torch.zeros(num_nodes, dim))

    def update(self, src, dst):
        pair = torch.cat([self.memory[src], self.memory[dst]], dim=-1)
        fresh = self.updater(pair, self.memory[src])
        self.memory = self.memory.index_copy(0, src, fresh)  # expect: place
        return self.memory


class LinkPredictor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.left, self.right = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, a, b):
        return (torch.tanh(self.left(a)) * self.right(b)).sum(-1)


torch.manual_seed(2)
num_nodes, dim = 12, 6
memory = NodeMemory(num_nodes, dim)
predictor = LinkPredictor(dim)
optimizer = torch.optim.Adam(
    [{"params": memory.parameters()}, {"params": predictor.parameters(), "lr": 1e-2}], lr=1e-3
)
criterion = nn.BCEWithLogitsLoss()

for batch_id in range(5):
    src = torch.randperm(num_nodes)[:4]
    dst = torch.randint(0, num_nodes, (4,))
    neg = torch.randint(0, num_nodes, (4,))
    optimizer.zero_grad()
    z = memory.update(src, dst)  # expect: place
    pos_out, neg_out = predictor(z[src], z[dst]), predictor(z[src], z[neg])
    loss = criterion(pos_out, torch.ones(4)) + criterion(neg_out, torch.zeros(4))
    loss.backward()  # expect: place
    optimizer.step()
