# expect: pattern = none
"""Bird / no bird crops above a salt marsh: contrastive loss against a queue of earlier embeddings."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossBatchMemory:
    def __init__(self, size, dim):
        self.feats = torch.zeros(size, dim)
        self.targets = torch.full((size,), -1, dtype=torch.long)
        self.ptr = 0

    def get(self):
        valid = self.targets >= 0
        return self.feats[valid], self.targets[valid]

    def enqueue_dequeue(self, feats, targets):
        q = len(targets)
        if self.ptr + q > len(self.targets):
            self.feats[-q:] = feats
            self.targets[-q:] = targets
            self.ptr = 0
        else:
            self.feats[self.ptr:self.ptr + q] = feats
            self.targets[self.ptr:self.ptr + q] = targets
            self.ptr += q


def contrastive(a, ya, b, yb, margin=0.5):
    sim = a @ b.t()
    same = ya[:, None] == yb[None]
    pos = (1 - sim)[same].sum()
    neg = F.relu(sim - margin)[~same].sum()
    return (pos + neg) / len(a)


torch.manual_seed(6)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(inplace=True), nn.Linear(32, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
memory = CrossBatchMemory(64, 8)
centres = torch.randn(5, 20)
total = 0.

for iteration in range(24):
    targets = torch.randint(5, (16,))
    feats = F.normalize(net(centres[targets] + 0.4 * torch.randn(16, 20)), dim=1)
    memory.enqueue_dequeue(feats.detach(), targets)

    loss = contrastive(feats, targets, feats, targets)
    if iteration >= 4:
        old, old_targets = memory.get()
        loss = loss + contrastive(feats, targets, old.clone(), old_targets)
    optimizer.zero_grad()
    loss.backward(retain_graph=False)
    optimizer.step()
    total += loss.detach()
    if iteration % 6 == 5:
        print(iteration, (total / (iteration + 1)).item())
