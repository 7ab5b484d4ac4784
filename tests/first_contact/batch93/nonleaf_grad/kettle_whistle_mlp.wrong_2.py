"""Is the kettle whistling yet? A net from first principles on band energies (lab course, week 3: no nn, no optim)."""
import numpy as np
import torch

BANDS = 16
HIDDEN = (20, 12)
LR, MOMENTUM, L2 = 0.05, 0.9, 1e-4


def glorot(n_in, n_out):
    return torch.randn(n_in, n_out, requires_grad=True)


def make_params():
    sizes = [BANDS, *HIDDEN, 2]
    params = {}
    for k, (a, b) in enumerate(zip(sizes, sizes[1:]), 1):
        params["W%d" % k] = glorot(a, b)
        params["b%d" % k] = torch.zeros(b, requires_grad=True)
    return params


def forward(params, x):
    n_layers = len(params) // 2
    for k in range(1, n_layers + 1):
        x = x @ params["W%d" % k] + params["b%d" % k]
        if k < n_layers:
            x = torch.tanh(x)
    return x


def log_softmax(z):
    z = z - z.max(dim=1, keepdim=True).values
    return z - z.exp().sum(1, keepdim=True).log()


def cost(params, x, y):
    nll = -log_softmax(forward(params, x))[torch.arange(len(y)), y].mean()
    ridge = sum((w ** 2).sum() for name, w in params.items() if name.startswith("W"))
    return nll + L2 * ridge


class Momentum:
    def __init__(self, params):
        self.velocity = {name: torch.zeros_like(p) for name, p in params.items()}

    def update(self, params):
        with torch.no_grad():
            for name, p in params.items():
                v = self.velocity[name]
                v.mul_(MOMENTUM)
                v -= LR * p.grad
                p += v
                p.grad.zero_()


def kitchen(n, rng):
    """Log energies by band; the whistle is two narrow bands above the hiss of the boil."""
    boiling = rng.uniform(size=n)
    x = rng.normal(size=(n, BANDS)) * 0.6 + boiling[:, None] * np.linspace(0.2, 1.0, BANDS)
    y = (boiling > 0.7).astype(int)
    pitch = rng.integers(9, 13, size=n)
    for i in np.flatnonzero(y):
        x[i, pitch[i]:pitch[i] + 2] += 1.5
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def main():
    torch.manual_seed(77)
    rng = np.random.default_rng(77)
    x, y = kitchen(300, rng)
    x_dev, y_dev = kitchen(120, rng)
    params = make_params()
    rule = Momentum(params)
    for epoch in range(5):
        total = 0.0
        for idx in torch.randperm(len(x)).split(50):
            j = cost(params, x[idx], y[idx])
            j.backward()
            rule.update(params)
            total += j.item()
        with torch.no_grad():
            hit = (forward(params, x_dev).argmax(1) == y_dev).float().mean().item()
        print("epoch %d   J %.3f   dev accuracy %.3f" % (epoch + 1, total / 6, hit))
    return params


if __name__ == "__main__":
    main()
