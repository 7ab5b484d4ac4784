# expect: pattern = nonleaf-grad
# expect: raises = TypeError: unsupported operand type(s) for *
# expect: carrier = x
import torch
from torch import nn


class Explainer:
    def __init__(self, model):
        self.model = model.eval()

    def attributions(self, batch, target):
        batch.requires_grad_(True)
        x = (batch - batch.mean(0)) / (batch.std(0) + 1e-6)  # expect: place
        scores = self.model(x)
        self.model.zero_grad()
        scores.gather(1, target[:, None]).sum().backward()
        return (x.grad * x).detach()  # expect: place

    def top_features(self, batch, target, k=3):
        return self.attributions(batch, target).abs().mean(0).topk(k).indices.tolist()


def train(model, steps=3):
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(steps):
        x, y = torch.randn(16, 6), torch.randint(0, 2, (16,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model


torch.manual_seed(0)
net = train(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)))
print(Explainer(net).top_features(torch.randn(10, 6), torch.randint(0, 2, (10,))))
