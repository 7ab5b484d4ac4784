"""Multi-task net for tabular customer data; task weights follow the gradient norms of the trunk."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

TASKS = ("churn", "spend", "visits")


def customers(n):
    numeric = torch.randn(n, 6)
    region = torch.randint(0, 5, (n,))
    plan = torch.randint(0, 3, (n,))
    base = numeric[:, 0] - 0.5 * numeric[:, 1] * numeric[:, 2] + 0.3 * region.float()
    churn = (torch.sigmoid(1.5 * base - plan.float()) > torch.rand(n)).float()
    spend = 40 * torch.relu(base + plan.float()) + 5 * torch.randn(n)
    visits = torch.poisson(torch.exp(0.4 * numeric[:, 3] + 0.2 * plan.float()))
    return numeric, region, plan, torch.stack([churn, spend / 40, visits], dim=1)


class TabularMultiTask(nn.Module):
    def __init__(self, n_numeric=6, dim=32):
        super().__init__()
        self.region = nn.Embedding(5, 3)
        self.plan = nn.Embedding(3, 2)
        self.norm = nn.BatchNorm1d(n_numeric)
        self.trunk = nn.Sequential(
            nn.Linear(n_numeric + 5, dim), nn.ReLU(inplace=True), nn.Linear(dim, dim), nn.ReLU(inplace=True)
        )
        self.heads = nn.ModuleDict({t: nn.Linear(dim, 1) for t in TASKS})

    def forward(self, numeric, region, plan):
        x = torch.cat([self.norm(numeric), self.region(region), self.plan(plan)], dim=1)
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def task_losses(out, y):
    return {
        "churn": F.binary_cross_entropy_with_logits(out["churn"], y[:, 0]),
        "spend": F.smooth_l1_loss(out["spend"], y[:, 1]),
        "visits": F.poisson_nll_loss(out["visits"], y[:, 2]),
    }


class NormBalancer:
    """Weights in inverse proportion to the running gradient norms, scaled to the mean of one."""

    def __init__(self, shared, momentum=0.8):
        self.shared = list(shared)
        self.momentum = momentum
        self.norms = {}

    def __call__(self, losses):
        for task, loss in losses.items():
            grads = torch.autograd.grad(loss, self.shared, retain_graph=True)
            norm = torch.cat([g.flatten() for g in grads]).norm().item()
            old = self.norms.get(task, norm)
            self.norms[task] = self.momentum * old + (1 - self.momentum) * norm
        inverse = {t: 1 / (n + 1e-6) for t, n in self.norms.items()}
        scale = len(inverse) / sum(inverse.values())
        return {t: w * scale for t, w in inverse.items()}


def evaluate(model, arrays):
    model.eval()
    with torch.no_grad():
        out = model(*arrays[:3])
        losses = task_losses(out, arrays[3])
    model.train()
    return {t: round(v.item(), 3) for t, v in losses.items()}


def main():
    torch.manual_seed(31)
    loader = DataLoader(TensorDataset(*customers(512)), batch_size=64, shuffle=True)
    held_out = customers(256)
    model = TabularMultiTask()
    balancer = NormBalancer(model.trunk[2].parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    history = []
    for epoch in range(4):
        for numeric, region, plan, y in loader:
            losses = task_losses(model(numeric, region, plan), y)
            weights = balancer(losses)
            total = sum(weights[t] * losses[t] for t in TASKS)
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            history.append(total.detach())
        shown = {t: round(w, 2) for t, w in weights.items()}
        print(f"epoch {epoch} train {torch.stack(history[-8:]).mean():.3f} weights {shown}", evaluate(model, held_out))


if __name__ == "__main__":
    main()
