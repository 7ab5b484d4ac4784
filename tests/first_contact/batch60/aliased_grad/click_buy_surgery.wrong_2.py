


"""Click / purchase ranking with projected gradients (PCGrad) on a shared embedding trunk."""
import torch
from torch import nn
import torch.nn.functional as F

N_USERS, N_ITEMS = 60, 90


class TwoTaskRanker(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.users = nn.Embedding(N_USERS, dim)
        self.items = nn.Embedding(N_ITEMS, dim)
        self.trunk = nn.Sequential(nn.Linear(2 * dim, 24), nn.ReLU())
        self.click = nn.Linear(24, 1)
        self.buy = nn.Linear(24, 1)

    def forward(self, u, i):
        h = self.trunk(torch.cat([self.users(u), self.items(i)], dim=-1))
        return self.click(h).squeeze(-1), self.buy(h).squeeze(-1)


class ConflictFreeStep:
    """Takes away from each task's gradient the part that points against the other's."""

    def __init__(self, model, optimizer):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = optimizer
        # a head gets nothing from the other task: zeros instead of None
        for p in self.params:
            p.grad = torch.zeros_like(p)

    def _collect(self, loss, keep):
        loss.backward(retain_graph=keep)
        grads = [p.grad.clone() for p in self.params]
        return grads

    @staticmethod
    def _dot(a, b):
        return sum((x * y).sum() for x, y in zip(a, b))

    def _project(self, a, b):
        inner = self._dot(a, b)
        if inner >= 0:
            return a
        scale = inner / self._dot(b, b).clamp_min(1e-12)
        return [x - scale * y for x, y in zip(a, b)]

    def __call__(self, loss_click, loss_buy):
        g_click = self._collect(loss_click, keep=True)
        g_buy = self._collect(loss_buy, keep=False)
        left, right = self._project(g_click, g_buy), self._project(g_buy, g_click)
        merged = [x + y for x, y in zip(left, right)]
        for p, g in zip(self.params, merged):
            p.grad.copy_(g)
        self.optimizer.step()


def sample_log(n):
    u, i = torch.randint(N_USERS, (n,)), torch.randint(N_ITEMS, (n,))
    clicked = ((u + i) % 3 == 0).float()
    bought = ((u - i) % 4 == 0).float()
    return u, i, clicked, bought


def main():
    torch.manual_seed(31)
    model = TwoTaskRanker()
    surgery = ConflictFreeStep(model, torch.optim.Adam(model.parameters(), lr=5e-3))
    for step in range(30):
        u, i, clicked, bought = sample_log(128)
        z_click, z_buy = model(u, i)
        loss_click = F.binary_cross_entropy_with_logits(z_click, clicked)
        loss_buy = F.binary_cross_entropy_with_logits(z_buy, bought)
        surgery(loss_click, loss_buy)
        if step % 10 == 0:
            print(f"step {step:2d}  click {loss_click.item():.4f}  buy {loss_buy.item():.4f}")


if __name__ == "__main__":
    main()
