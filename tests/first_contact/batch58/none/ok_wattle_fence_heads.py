# expect: pattern = none
# expect: raises = nothing
"""Age of hazel rods from drone pictures: three heads on one dictionary that must agree with each other.

The dictionary is laid out once a field and used for all its rows; the field's rows are walked together.
"""
import torch
import torch.nn.functional as F
from torch import nn


class Ledger:
    """Keeps what the heads said of earlier fields, by name."""

    def __init__(self, limit=4):
        self.limit = limit
        self.entries = []

    def enter(self, **said):
        self.entries.append({name: x.detach().mean(dim=0) for name, x in said.items()})
        del self.entries[:-self.limit]

    def usual(self, name):
        if not self.entries:
            return None
        return torch.stack([entry[name] for entry in self.entries]).mean(dim=0)


class Rods(nn.Module):
    def __init__(self, pixels=30, atoms=8, heads=("bark", "knots", "bend")):
        super().__init__()
        self.raw = nn.Parameter(0.3 * torch.randn(atoms, pixels))
        self.heads = nn.ModuleDict({name: nn.Linear(atoms, 3) for name in heads})
        self.atoms = None

    def lay_out(self):
        q = F.normalize(self.raw, dim=1)
        self.atoms = q - 0.5 * (q @ q.T - torch.eye(len(q))) @ q

    def forward(self, patch):
        code = torch.relu(patch @ self.atoms.T)
        return {name: head(code) for name, head in self.heads.items()}


def disagreement(said):
    logs = {name: F.log_softmax(x, dim=-1) for name, x in said.items()}
    names = list(logs)
    return sum(
        F.kl_div(logs[a], logs[b], log_target=True, reduction="batchmean")
        for a in names for b in names if a != b
    ) / (len(names) * (len(names) - 1))


def field_rows(shapes, rows=4, n=20):
    for _ in range(rows):
        age = torch.randint(3, (n,))
        yield shapes[age] + 0.5 * torch.randn(n, shapes.shape[1]), age


torch.manual_seed(902)
shapes = torch.randn(3, 30)
model, ledger = Rods(), Ledger()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for field in range(30):
    model.lay_out()
    losses = []
    for patch, age in field_rows(shapes):
        said = model(patch)
        loss = sum(F.cross_entropy(x, age) for x in said.values()) + 0.2 * disagreement(said)
        for name, x in said.items():
            usual = ledger.usual(name)
            if usual is not None:
                loss = loss + 0.01 * F.mse_loss(x.mean(dim=0), usual)
        losses.append(loss)
        ledger.enter(**said)
    opt.zero_grad()
    total = torch.stack(losses).mean()
    total.backward()
    opt.step()
    if field % 6 == 5:
        print(f"field {field + 1:2d}  loss {total.item():.3f}  entries {len(ledger.entries)}")
