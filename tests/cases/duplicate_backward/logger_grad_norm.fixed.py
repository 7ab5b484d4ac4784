import torch
import torch.nn as nn


class GradLogger:
    """Logs the gradient norm of every layer, each `every` steps."""

    def __init__(self, model, every=2):
        self.model, self.every, self.rows = model, every, []

    def after_backward(self, step, loss):
        if step % self.every:
            return
        self.rows.append({n: p.grad.norm().item() for n, p in self.model.named_parameters()})


class Runner:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run(self, batches):
        for step, (x, y) in enumerate(batches):
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            for callback in self.callbacks:
                callback.after_backward(step, loss)
            self.optimizer.step()


torch.manual_seed(5)
net = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 3))
logger = GradLogger(net)
batches = [(torch.randn(8, 7), torch.randint(0, 3, (8,))) for _ in range(4)]
Runner(net, [logger]).run(batches)
print(logger.rows[-1])
