# expect: pattern = none
# Which lighthouse, and how far? Two losses on one trunk, each backward on its own because the gradient that each
# leaves in the trunk is compared (conflict = negative cosine) before the step.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(16, 32)
        self.l2 = nn.Linear(32, 16)
        self.which = nn.Linear(16, 4)
        self.far = nn.Linear(16, 1)

    def shared(self):
        return [*self.l1.parameters(), *self.l2.parameters()]

    def forward(self, x):
        h = F.relu(self.l2(F.relu(self.l1(x))))
        return self.which(h), self.far(h).squeeze(1)


def flashes(n):
    k = torch.randint(4, (n,))
    d = torch.rand(n)
    t = torch.arange(16.0)
    return (torch.sin(t * (k[:, None] + 1) / 3) / (0.5 + d[:, None])) + 0.1 * torch.randn(n, 16), k, d


def main():
    torch.manual_seed(14)
    net = Trunk()
    lr, momentum = 0.05, 0.8
    velocity = {p: torch.zeros_like(p) for p in net.parameters()}
    for step in range(20):
        x, k, d = flashes(32)
        which, far = net(x)
        for p in net.parameters():
            p.grad = None
        F.cross_entropy(which, k).backward(retain_graph=True)
        first = torch.cat([p.grad.flatten().clone() for p in net.shared()])
        loss = F.mse_loss(far, d)
        loss.backward()
        both = torch.cat([p.grad.flatten() for p in net.shared()])
        conflict = F.cosine_similarity(first, both - first, dim=0)
        for p, v in velocity.items():
            v.mul_(momentum).add_(p.grad)
            p.data.sub_(v, alpha=lr)
        if step % 5 == 0:
            acc = (which.argmax(1) == k).float().mean()
            print(f"{step}: acc {acc:.2f} dist {loss.item():.4f} cos {conflict:.2f}")


main()
