"""Natural-gradient flavoured training: a diagonal Fisher from autograd.grad scales the update."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Gate(nn.Module):
    """Mixture of two experts; the router picks one of them for the whole batch."""

    def __init__(self, d=6, classes=3):
        super().__init__()
        self.router = nn.Linear(d, 2)
        self.experts = nn.ModuleList([
            nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, classes)) for _ in range(2)])

    def forward(self, x):
        p = self.router(x.mean(0)).softmax(-1)
        k = int(p.argmax())
        return p[k] * self.experts[k](x)


class DiagonalFisher:
    def __init__(self, model, decay=0.9, damping=1e-2):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.model, self.decay, self.damping = model, decay, damping
        self.state = [torch.zeros_like(p) for p in self.params]

    def update(self, x):
        logits = self.model(x)
        sampled = torch.distributions.Categorical(logits=logits.detach()).sample()
        nll = F.cross_entropy(logits, sampled)
        grads = torch.autograd.grad(nll, self.params, allow_unused=True)
        for f, g in zip(self.state, [g for g in grads if g is not None][:2]):
            f.mul_(self.decay).add_(g * g, alpha=1 - self.decay)

    def precondition(self):
        for p, f in zip(self.params, self.state):
            if p.grad is not None:
                p.grad.div_(f.sqrt() + self.damping)


def main():
    torch.manual_seed(52)
    model = Gate()
    fisher = DiagonalFisher(model)
    opt = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.8)
    w = torch.randn(6, 3)
    for it in range(8):
        x = torch.randn(32, 6) + (-1) ** it
        y = (x @ w).argmax(1)
        fisher.update(x)
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        fisher.precondition()
        opt.step()
        print(it, round(loss.item(), 4))


if __name__ == "__main__":
    main()
