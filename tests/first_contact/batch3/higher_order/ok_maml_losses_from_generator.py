"""Few-shot regression, second order: adapted losses come from a generator and are summed before the walk."""
import torch
import torch.nn as nn
from torch.func import functional_call


class Sinusoids:
    def __init__(self, shots=8, seed=10):
        self.shots, self.gen = shots, torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            a, p = 0.5 + 2 * torch.rand(1, generator=self.gen), 3 * torch.rand(1, generator=self.gen)
            x = 6 * torch.rand(2, self.shots, 1, generator=self.gen) - 3
            y = a * torch.sin(x + p)
            yield x[0], y[0], x[1], y[1]


class Meta(nn.Module):
    def __init__(self, inner_steps=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
        self.log_rates = nn.ParameterDict({n.replace(".", "_"): nn.Parameter(torch.tensor(-3.0))
                                           for n, _ in self.net.named_parameters()})
        self.inner_steps = inner_steps

    def predict(self, weights, x):
        return functional_call(self.net, weights, (x,))

    def adapt(self, x, y):
        weights = dict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = (self.predict(weights, x) - y).pow(2).mean()
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {n: w - self.log_rates[n.replace(".", "_")].exp() * g
                       for (n, w), g in zip(weights.items(), grads)}
        return weights

    def outer_losses(self, tasks, count):
        for _, (xs, ys, xq, yq) in zip(range(count), tasks):
            yield (self.predict(self.adapt(xs, ys), xq) - yq).pow(2).mean()


if __name__ == "__main__":
    torch.manual_seed(10)
    meta, tasks = Meta(), Sinusoids()
    optimizer = torch.optim.Adam(meta.parameters(), lr=2e-3)
    for it in range(6):
        loss = torch.stack(list(meta.outer_losses(tasks, 4))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(it, round(loss.item(), 4))
