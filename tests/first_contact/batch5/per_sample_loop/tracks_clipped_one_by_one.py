# expect: pattern = per-sample-loop
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scores, logits, out
"""Playlist ranker: one forward for the mini-batch, the gradients of each listener clipped, one update per batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Ranker(nn.Module):
    def __init__(self, users=15, tracks=30, d=8):
        super().__init__()
        self.u, self.t = nn.Embedding(users, d), nn.Embedding(tracks, d)
        self.mix = nn.Sequential(nn.Linear(2 * d, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, u, t):
        z = torch.cat([self.u(u)[:, None].expand(-1, t.size(1), -1), self.t(t)], 2)
        return self.mix(z).squeeze(2)


def clipped_sum(model, losses, bound):
    params = list(model.parameters())
    total = [torch.zeros_like(p) for p in params]
    for loss in losses:
        model.zero_grad()
        loss.backward()  # expect: place
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in params))
        factor = (bound / (norm + 1e-6)).clamp(max=1.0)
        for acc, p in zip(total, params):
            acc.add_(p.grad * factor)
    return total


def main():
    torch.manual_seed(50)
    model = Ranker()
    opt = torch.optim.SGD(model.parameters(), lr=0.4)
    for it in range(6):
        users = torch.randint(15, (8,))
        tracks = torch.randint(30, (8, 5))
        chosen = tracks.argmin(1)
        scores = model(users, tracks)
        losses = F.cross_entropy(scores, chosen, reduction="none")
        grads = clipped_sum(model, losses, bound=0.5)  # expect: place
        for p, g in zip(model.parameters(), grads):
            p.grad = g / len(users) + 0.01 * torch.randn_like(g)
        opt.step()
        print(it, round(losses.mean().item(), 4))


if __name__ == "__main__":
    main()
