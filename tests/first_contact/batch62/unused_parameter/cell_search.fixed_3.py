


"""First-order differentiable search over the operations of a small 1-D network."""
import torch
from torch import nn
from torch.nn import functional as F

PRIMITIVES = {
    "identity": lambda c: nn.Identity(),
    "conv3": lambda c: nn.Conv1d(c, c, 3, padding=1),
    "conv5": lambda c: nn.Conv1d(c, c, 5, padding=2),
    "avg": lambda c: nn.AvgPool1d(3, stride=1, padding=1),
}


class MixedCell(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.ops = nn.ModuleList(build(width) for build in PRIMITIVES.values())

    def forward(self, x, weights):
        out = sum(w * op(x) for w, op in zip(weights, self.ops))
        return F.max_pool1d(out, 2) if self.kind == "reduce" else F.relu(out)


class Supernet(nn.Module):
    def __init__(self, plan, width=8, classes=3):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 3, padding=1)
        self.cells = nn.ModuleList(MixedCell(width, kind) for kind in plan)
        self.head = nn.Linear(width, classes)
        self.alphas = nn.ParameterDict(
            {kind: nn.Parameter(1e-3 * torch.randn(len(PRIMITIVES))) for kind in dict.fromkeys(plan)}
        )

    def forward(self, x):
        mix = {kind: alpha.softmax(-1) for kind, alpha in self.alphas.items()}
        x = self.stem(x)
        for cell in self.cells:
            x = cell(x, mix[cell.kind])
        return self.head(x.mean(-1))

    def weights(self):
        return [p for name, p in self.named_parameters() if not name.startswith("alphas")]

    def genotype(self):
        names = list(PRIMITIVES)
        return {kind: names[alpha.argmax()] for kind, alpha in self.alphas.items()}


class Architect:
    def __init__(self, net, lr=0.02, decay=1e-2):
        self.net = net
        self.decay = decay
        self.opt = torch.optim.Adam(net.alphas.parameters(), lr=lr, betas=(0.5, 0.999))

    def step(self, x, y):
        alphas = list(self.net.alphas.values())
        loss = F.cross_entropy(self.net(x), y)
        grads = torch.autograd.grad(loss, alphas)
        for alpha, g in zip(alphas, grads):
            alpha.grad = g + self.decay * alpha.detach()
        self.opt.step()
        return loss.item()


def waves(n):
    y = torch.randint(3, (n,))
    t = torch.linspace(0, 6.28, 32)
    return (torch.sin(t * (y[:, None] + 1)) + 0.3 * torch.randn(n, 32))[:, None], y


def search(plan=("normal", "normal"), rounds=6):
    net = Supernet(plan)
    architect = Architect(net)
    w_opt = torch.optim.SGD(net.weights(), lr=0.05, momentum=0.9)
    for r in range(rounds):
        val_loss = architect.step(*waves(24))
        x, y = waves(24)
        w_opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        w_opt.step()
        print(f"round {r}: val {val_loss:.3f}  {net.genotype()}")


if __name__ == "__main__":
    torch.manual_seed(31)
    search()
