# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index
# expect: carrier = model.head_b, loss
import torch
from torch import nn
from torch.func import functional_call


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 16), nn.ReLU())
        self.head_a = nn.Linear(16, 1)
        self.head_b = nn.Linear(16, 1)

    def forward(self, x, head):
        return getattr(self, head)(self.body(x))


def adapt(model, x, y, head, lr=0.05, steps=2):
    params = dict(model.named_parameters())
    for _ in range(steps):
        loss = (functional_call(model, params, (x, head)) - y).pow(2).mean()
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)  # expect: place
        params = {k: p - lr * g for (k, p), g in zip(params.items(), grads)}  # expect: place
    return params


torch.manual_seed(0)
model = MultiHead()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(4):
    optimizer.zero_grad()
    for head in ("head_a", "head_b"):
        x = torch.randn(10, 2)
        y = x.prod(1, keepdim=True) if head == "head_a" else x.sum(1, keepdim=True)
        fast = adapt(model, x[:5], y[:5], head)  # expect: place
        outer = (functional_call(model, fast, (x[5:], head)) - y[5:]).pow(2).mean()
        outer.backward()
    optimizer.step()
    print(it, outer.item())
