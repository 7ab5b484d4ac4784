# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = fast, total
import torch
from torch import nn
from torch.func import functional_call


class MAML:
    def __init__(self, net, inner_lr=0.1, outer_lr=1e-3):
        self.net, self.inner_lr = net, inner_lr
        self.opt = torch.optim.Adam(net.parameters(), outer_lr)

    def adapt(self, x, y, steps=2):
        fast = {k: v.data for k, v in self.net.named_parameters()}  # expect: place
        for _ in range(steps):
            fast = {k: v.requires_grad_() for k, v in fast.items()}
            loss = nn.functional.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {k: (v - self.inner_lr * g).detach() for (k, v), g in zip(fast.items(), grads)}  # expect: place
        return fast

    def outer(self, tasks):
        total = 0.0
        for (xs, ys), (xq, yq) in tasks:
            fast = self.adapt(xs, ys)
            total = total + nn.functional.mse_loss(functional_call(self.net, fast, (xq,)), yq)
        self.opt.zero_grad()
        total.backward()  # expect: place
        self.opt.step()
        return total.item()


def sine():
    a, ph = torch.rand(1) * 4 + 0.1, torch.rand(1) * 3
    def draw(n):
        x = torch.rand(n, 1) * 10 - 5
        return x, a * torch.sin(x + ph)
    return draw(10), draw(10)


torch.manual_seed(0)
meta = MAML(nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1)))
for it in range(3):
    print(it, meta.outer([sine() for _ in range(2)]))
