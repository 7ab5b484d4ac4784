# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = adv
import torch
from torch import nn


class PGD:
    def __init__(self, eps=0.3, alpha=0.1, steps=4):
        self.eps, self.alpha, self.steps = eps, alpha, steps

    def __call__(self, model, x, y):
        adv = x.clone().requires_grad_()
        for _ in range(self.steps):
            loss = nn.functional.cross_entropy(model(adv), y)
            loss.backward()
            adv += self.alpha * adv.grad.sign()  # expect: place
            adv.clamp_(x - self.eps, x + self.eps)
            adv.grad.zero_()
        return adv.detach()


def adversarial_training(model, loader, attack, epochs=1):
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(epochs):
        for x, y in loader:
            adv = attack(model, x, y)
            optim.zero_grad()
            loss = nn.functional.cross_entropy(model(adv), y)
            loss.backward()
            optim.step()
            print(loss.item())


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 2))
adversarial_training(net, [(torch.randn(8, 7), torch.randint(0, 2, (8,))) for _ in range(3)], PGD())
