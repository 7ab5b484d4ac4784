import torch
from torch import nn
from torch.func import functional_call


class MetaLearner:
    """Learns from the query loss after every inner step, not only after the last one."""

    def __init__(self, model, inner_lr=0.1, outer_lr=1e-3, step_weights=(0.2, 0.3, 0.5)):
        self.model, self.inner_lr, self.step_weights = model, inner_lr, step_weights
        self.optimizer = torch.optim.Adam(model.parameters(), lr=outer_lr)

    def loss(self, weights, x, y):
        return nn.functional.cross_entropy(functional_call(self.model, weights, (x,)), y)

    def inner_update(self, weights, x, y):
        grads = torch.autograd.grad(self.loss(weights, x, y), list(weights.values()), create_graph=True)
        return {k: w - self.inner_lr * g for (k, w), g in zip(weights.items(), grads)}

    def meta_step(self, tasks):
        self.optimizer.zero_grad()
        logged = 0.0
        for x_s, y_s, x_q, y_q in tasks:
            fast, task_loss = dict(self.model.named_parameters()), 0.0
            for importance in self.step_weights:
                fast = self.inner_update(fast, x_s, y_s)
                outer = importance * self.loss(fast, x_q, y_q) / len(tasks)
                task_loss = task_loss + outer
                logged += outer.item()
            task_loss.backward()
        self.optimizer.step()
        return logged


def make_task():
    w = torch.randn(4, 2)
    x_s, x_q = torch.randn(8, 4), torch.randn(8, 4)
    return x_s, (x_s @ w).argmax(1), x_q, (x_q @ w).argmax(1)


torch.manual_seed(0)
learner = MetaLearner(nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 2)))
for _ in range(3):
    print(learner.meta_step([make_task() for _ in range(2)]))
