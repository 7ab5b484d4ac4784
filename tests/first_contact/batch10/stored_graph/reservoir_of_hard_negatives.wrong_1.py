"""Matching of cut marks: the hardest negatives of each batch are kept for the next ones."""
import heapq
import itertools

import torch
import torch.nn.functional as F


class Hardest:
    def __init__(self, size):
        self.size, self.heap, self.ticket = size, [], itertools.count()

    def offer(self, anchors, candidates):
        with torch.no_grad():
            score = (anchors @ candidates.t()).max(0).values
        for s, c in zip(score.tolist(), candidates):
            heapq.heappush(self.heap, (s, next(self.ticket), c))
            if len(self.heap) > self.size:
                heapq.heappop(self.heap)

    def draw(self):
        return torch.stack([c for _, _, c in self.heap]) if self.heap else None


torch.manual_seed(12)
net = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
hard = Hardest(12)
for case_no in range(8):
    marks = torch.randn(16, 10)
    a = F.normalize(net(marks), dim=1)
    b = F.normalize(net(marks + 0.1 * torch.randn_like(marks)), dim=1)
    kept = hard.draw()
    others = b if kept is None else torch.cat([b, kept])
    loss = F.cross_entropy(a @ others.t() / 0.2, torch.arange(16))
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    hard.offer(a, b)
    print(case_no, f"{loss.item():.4f}")
