"""Second-order MAML for few-shot recalibration of drifting gas sensors, functional style."""
import torch
import torch.nn.functional as F


def init_params(sizes, gen):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        w = torch.randn(n_out, n_in, generator=gen) / n_in ** 0.5
        params += [w.requires_grad_(), torch.zeros(n_out, requires_grad=True)]
    return params


def net(x, params):
    for k in range(0, len(params) - 2, 2):
        x = torch.tanh(F.linear(x, params[k], params[k + 1]))
    return F.linear(x, params[-2], params[-1])


class SensorDrift:
    """Four cross-sensitive channels; each sensor has its own mixing and its own offset."""

    def __init__(self, gen):
        self.gen = gen
        self.mixing = torch.randn(2, 4, generator=gen)

    def task(self, n=24):
        mixing = self.mixing + 0.3 * torch.randn(2, 4, generator=self.gen)
        offset = 0.2 * torch.randn(4, generator=self.gen)
        conc = torch.rand(n, 2, generator=self.gen)
        signal = torch.log1p(conc) @ mixing + offset
        return signal[:8], conc[:8], signal[8:], conc[8:]


def adapt(params, x, y, log_lr, steps):
    fast = params
    for _ in range(steps):
        loss = F.mse_loss(net(x, fast), y)
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [p - lr.exp() * g for p, g, lr in zip(fast, grads, log_lr)]
    return fast


gen = torch.Generator().manual_seed(31)
params = init_params([4, 24, 24, 2], gen)
log_lr = [torch.tensor(-2.5, requires_grad=True) for _ in params]
meta_opt = torch.optim.Adam([{"params": params, "lr": 2e-3}, {"params": log_lr, "lr": 1e-2}])
world = SensorDrift(gen)

history = []
for it in range(16):
    meta_loss = 0
    for _ in range(3):
        xs, ys, xq, yq = world.task()
        fast = adapt(params, xs, ys, log_lr, steps=2)
        meta_loss = meta_loss + F.mse_loss(net(xq, fast), yq)
    meta_loss /= 3

    meta_opt.zero_grad()
    meta_loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 5.0)
    meta_opt.step()
    history.append(meta_loss.item())
    if it % 8 == 7:
        print(f"it {it}: query mse {sum(history[-8:]) / 8:.4f}, inner lr {log_lr[0].exp().item():.3f}")

xs, ys, xq, yq = world.task()
fast = [p.detach().requires_grad_() for p in adapt(params, xs, ys, log_lr, steps=5)]
print("new sensor after recalibration: %.4f" % F.mse_loss(net(xq, fast), yq).item())
