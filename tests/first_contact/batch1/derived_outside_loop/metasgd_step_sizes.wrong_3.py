"""Meta-SGD: initial weights and one step size per tensor are learnt together."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MetaSGD(nn.Module):
    def __init__(self, dims=(2, 14, 3)):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(dims[1], dims[0]) * 0.5)
        self.b1 = nn.Parameter(torch.zeros(dims[1]))
        self.w2 = nn.Parameter(torch.randn(dims[2], dims[1]) * 0.3)
        self.b2 = nn.Parameter(torch.zeros(dims[2]))
        self.raw_lrs = nn.Parameter(torch.full((4,), -1.0))

    def weights(self):
        return [self.w1, self.b1, self.w2, self.b2]

    def inner_lrs(self):
        return F.softplus(self.raw_lrs)

    @staticmethod
    def forward(weights, x):
        w1, b1, w2, b2 = weights
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def make_task(gen, shots=5):
    centres = torch.randn(3, 2, generator=gen) * 2
    y = torch.arange(3).repeat_interleave(2 * shots)
    x = centres[y] + 0.3 * torch.randn(len(y), 2, generator=gen)
    order = torch.randperm(len(y), generator=gen)
    x, y = x[order], y[order]
    half = len(y) // 2
    return (x[:half], y[:half]), (x[half:], y[half:])


def outer_loop(meta, iterations=6, tasks_per_batch=4):
    gen = torch.Generator().manual_seed(2)
    opt = torch.optim.Adam(meta.parameters(), lr=0.01)
    for it in range(iterations):
        opt.zero_grad()
        lrs = meta.inner_lrs()
        hits = 0.0
        for _ in range(tasks_per_batch):
            (xs, ys), (xq, yq) = make_task(gen)
            weights = meta.weights()
            support = F.cross_entropy(meta.forward(weights, xs), ys)
            grads = torch.autograd.grad(support, weights, create_graph=True)
            fast = [w - lr * g for w, lr, g in zip(weights, lrs, grads)]
            logits = meta.forward(fast, xq)
            loss = F.cross_entropy(logits, yq) / tasks_per_batch
            hits += (logits.argmax(1) == yq).float().mean().item()
        loss.backward()
        opt.step()
        print("iter %d acc %.2f lr-grad %.4f" % (it, hits / tasks_per_batch, meta.raw_lrs.grad.norm()))


if __name__ == "__main__":
    torch.manual_seed(2)
    outer_loop(MetaSGD())
