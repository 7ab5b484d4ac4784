# expect: pattern = duplicate-backward
# expect: also = step-between-backwards
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
# Sharpness-aware minimisation: the second pass walks the loss of the first.
import torch
import torch.nn as nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                e = group["rho"] * p.grad / (norm + 1e-12)
                p.add_(e)
                self.state[p]["e"] = e
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["e"])
        self.base.step()
        self.zero_grad()


def train(model, data, epochs):
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.05, lr=0.1)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for epoch in range(epochs):
        for x, y in data:
            loss = criterion(model(x), y)
            loss.backward()  # expect: place
            optimizer.first_step()
            loss.backward()  # expect: place
            optimizer.second_step()
        print(epoch, loss.item())


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
xs, ys = torch.randn(40, 12), torch.randint(0, 3, (40,))
train(net, list(zip(xs.split(10), ys.split(10))), epochs=2)
