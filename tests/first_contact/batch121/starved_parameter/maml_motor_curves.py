# expect: pattern = starved-parameter
# expect: also = detached-loss
# expect: raises = nothing
# expect: carrier = adapted_model, param
"""MAML over motor calibration curves: every motor has its own gain, offset and dead zone."""
import copy
import logging

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("meta")


class CurveNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.layers(x)


class MotorTasks:
    def __init__(self, seed, k_support=8, k_query=16):
        self.gen = torch.Generator().manual_seed(seed)
        self.k_support, self.k_query = k_support, k_query

    def _uniform(self, low, high):
        return low + (high - low) * torch.rand(1, generator=self.gen)

    def sample(self):
        gain, offset = self._uniform(0.5, 2.0), self._uniform(-0.5, 0.5)
        dead = self._uniform(0.0, 0.4)
        u = 2 * torch.rand(self.k_support + self.k_query, 1, generator=self.gen) - 1
        speed = gain * torch.sign(u) * (u.abs() - dead).clamp_min(0) + offset
        cut = self.k_support
        return u[:cut], speed[:cut], u[cut:], speed[cut:]


class MAMLTrainer:
    def __init__(self, model, inner_lr=0.05, meta_lr=1e-3, inner_steps=2):
        self.model = model
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.criterion = nn.MSELoss()
        self.meta_optimizer = torch.optim.Adam(self.model.parameters(), lr=meta_lr)  # expect: place

    def inner_update(self, support_x, support_y):
        adapted_model = copy.deepcopy(self.model)  # expect: place
        for _ in range(self.inner_steps):
            loss = self.criterion(adapted_model(support_x), support_y)
            grads = torch.autograd.grad(loss, list(adapted_model.parameters()), create_graph=True)
            for param, grad in zip(adapted_model.parameters(), grads):
                param.data -= self.inner_lr * grad  # expect: place
        return adapted_model

    def meta_train_step(self, tasks):
        meta_loss = 0.0
        for support_x, support_y, query_x, query_y in tasks:
            adapted_model = self.inner_update(support_x, support_y)  # expect: place
            query_loss = self.criterion(adapted_model(query_x), query_y)  # expect: place
            meta_loss = meta_loss + query_loss
        meta_loss = meta_loss / len(tasks)

        self.meta_optimizer.zero_grad()
        meta_loss.backward()  # expect: place
        self.meta_optimizer.step()  # expect: place
        return meta_loss.item()


def main():
    torch.manual_seed(0)
    tasks = MotorTasks(seed=12)
    trainer = MAMLTrainer(CurveNet())
    smooth = None
    for iteration in range(1, 25):
        loss = trainer.meta_train_step([tasks.sample() for _ in range(3)])
        smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss
        if iteration % 8 == 0:
            log.info("iteration %3d  query loss %.4f (smoothed %.4f)", iteration, loss, smooth)


if __name__ == "__main__":
    main()
