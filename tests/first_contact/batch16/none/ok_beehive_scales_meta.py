# expect: pattern = none
"""Beehive scales, each with a drift of its own: learn a start and inner rates from which a few readings are enough."""
import torch
import torch.nn.functional as F


def hive():
    """Weight against temperature and hour for one hive's scale."""
    slope, offset = torch.randn(2, 1), torch.randn(1)

    def readings(n):
        x = torch.randn(n, 2)
        return x, torch.sin(x @ slope) + offset

    return readings


class Net:
    def __init__(self, width=20):
        def weight(*shape):
            return (torch.randn(*shape) / shape[0] ** 0.5).requires_grad_()

        self.start = {
            "w1": weight(2, width), "b1": torch.zeros(width, requires_grad=True),
            "w2": weight(width, width), "b2": torch.zeros(width, requires_grad=True),
            "w3": weight(width, 1), "b3": torch.zeros(1, requires_grad=True),
        }
        self.rates = {name: torch.tensor(0.05, requires_grad=True) for name in self.start}

    def parameters(self):
        return [*self.start.values(), *self.rates.values()]

    @staticmethod
    def forward(x, w):
        h = torch.tanh(x @ w["w1"] + w["b1"])
        h = torch.tanh(h @ w["w2"] + w["b2"])
        return h @ w["w3"] + w["b3"]

    def adapt(self, x, y, steps, second_order=True):
        fast = self.start
        for _ in range(steps):
            loss = F.mse_loss(self.forward(x, fast), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=second_order)
            fast = {name: w - self.rates[name] * g for (name, w), g in zip(fast.items(), grads)}
        return fast


class MetaLearner:
    def __init__(self, net, inner_steps=3, tasks=4):
        self.net, self.inner_steps, self.tasks = net, inner_steps, tasks
        self.optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
        self.history = []

    def step(self, hives):
        self.optimizer.zero_grad()
        meta_loss, before = 0.0, 0.0
        for readings in hives:
            support, query = readings(8), readings(16)
            before += F.mse_loss(self.net.forward(query[0], self.net.start), query[1]).detach()
            fast = self.net.adapt(*support, self.inner_steps)
            meta_loss += F.mse_loss(self.net.forward(query[0], fast), query[1])
        meta_loss /= len(hives)
        meta_loss.backward()
        self.optimizer.step()
        self.history.append((before.item() / len(hives), meta_loss.item()))

    def train(self, iterations):
        for i in range(iterations):
            self.step([hive() for _ in range(self.tasks)])
            if i % 5 == 4:
                before, after = self.history[-1]
                print(f"{i + 1:3d}  before {before:.3f}  after {after:.3f}")

    def test(self, hives):
        scores = []
        for readings in hives:
            x, y = readings(8)
            fast = self.net.adapt(x, y, self.inner_steps, second_order=False)
            with torch.no_grad():
                x, y = readings(32)
                scores.append(F.mse_loss(self.net.forward(x, fast), y).item())
        return sum(scores) / len(scores)


def main():
    torch.manual_seed(50)
    learner = MetaLearner(Net())
    learner.train(10)
    print("new hives", round(learner.test([hive() for _ in range(3)]), 3))


if __name__ == "__main__":
    main()
