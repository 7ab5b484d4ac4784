# expect: pattern = none
# A callback asks for the gradient's norm before the real walk, and keeps the graph for it.
import torch
from torch import nn


class GradNormProbe:
    def __init__(self, every=2):
        self.every, self.log = every, []

    def before_backward(self, step, loss, model):
        if step % self.every == 0:
            grads = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
            self.log.append(torch.stack([g.norm() for g in grads]).norm().item())


class Fitter:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)

    def fit(self, batches):
        for step, (x, y) in enumerate(batches):
            loss = nn.functional.huber_loss(self.model(x), y)
            for callback in self.callbacks:
                callback.before_backward(step, loss, self.model)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(4)
probe = GradNormProbe()
x = torch.randn(48, 3)
fitter = Fitter(nn.Sequential(nn.Linear(3, 8), nn.CELU(), nn.Linear(8, 1)), [probe])
print(fitter.fit(zip(x.split(8), x.norm(dim=1, keepdim=True).split(8))), probe.log)
