# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = previous, grads, p.grad, p, self.previous
"""Fletcher-Reeves conjugate gradients, written by hand, for a small logistic regression."""
import torch
import torch.nn.functional as F

torch.manual_seed(13)


class ConjugateGradient:
    def __init__(self, params, lr):
        self.params = list(params)
        self.lr = lr
        self.previous = None
        self.direction = None
        self.betas = []

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()  # expect: place

    @torch.no_grad()
    def step(self):
        grads = [p.grad for p in self.params]  # expect: place
        if self.previous is None:
            self.direction = [-g for g in grads]
        else:
            before = sum((old * old).sum() for old in self.previous)  # expect: place
            now = sum((g * g).sum() for g in grads)
            beta = (now / before).item()
            self.betas.append(beta)
            self.direction = [-g + beta * d for g, d in zip(grads, self.direction)]
        for p, d in zip(self.params, self.direction):
            p.add_(d, alpha=self.lr)
        self.previous = grads  # expect: place


def make_patients(n=300, n_markers=10):
    mixing = torch.randn(n_markers, n_markers) / n_markers ** 0.5
    markers = torch.randn(n, n_markers) @ (torch.eye(n_markers) + mixing)
    effect = torch.randn(n_markers)
    risk = torch.sigmoid(markers @ effect - 0.5)
    return markers, torch.bernoulli(risk)


def objective(weight, bias, x, y, ridge=1e-3):
    logits = x @ weight + bias
    return F.binary_cross_entropy_with_logits(logits, y) + ridge * weight.pow(2).sum()


x, y = make_patients()
weight = torch.zeros(x.size(1), requires_grad=True)
bias = torch.zeros((), requires_grad=True)
optimizer = ConjugateGradient([weight, bias], lr=0.15)

for iteration in range(40):
    optimizer.zero_grad()
    loss = objective(weight, bias, x, y)
    loss.backward()
    optimizer.step()
    if iteration % 8 == 0:
        print(f"{iteration:3d}  {loss.item():.5f}")

accuracy = (((x @ weight + bias) > 0).float() == y).float().mean().item()
print(f"accuracy {accuracy:.3f}")
