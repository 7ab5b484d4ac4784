# expect: pattern = none
# Virtual adversarial training: the gradient for a direction walks only what leads to it, so the
# predictions beside it keep their graph.
import torch
import torch.nn as nn
import torch.nn.functional as F


def unit(d):
    return d / (d.flatten(1).norm(dim=1).view(-1, *[1] * (d.dim() - 1)) + 1e-8)


class VATLoss(nn.Module):
    def __init__(self, xi=0.1, eps=1.0, rounds=1):
        super().__init__()
        self.xi, self.eps, self.rounds = xi, eps, rounds

    def divergence(self, model, x, pred):
        return F.kl_div(F.log_softmax(model(x), dim=1), pred, reduction="batchmean")

    def forward(self, model, x, logits):
        pred = F.softmax(logits, dim=1)
        d = unit(torch.randn_like(x))
        for _ in range(self.rounds):
            d = d.detach().requires_grad_()
            distance = self.divergence(model, x + self.xi * d, pred)
            d = unit(torch.autograd.grad(distance, d)[0])
        return self.divergence(model, x + self.eps * d.detach(), pred.detach())


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
vat = VATLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    x, y = torch.randn(12, 6), torch.randint(0, 3, (12,))
    logits = model(x)
    loss = F.cross_entropy(logits, y) + vat(model, x, logits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
