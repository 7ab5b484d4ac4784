"""
Which bark beetle is it? Small transformer over stridulation chirps (tokenised), trained with a second-order-ish
optimizer: every `k` steps the diagonal of the Hessian is refreshed from labels sampled out of the model itself.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.optimizer import Optimizer


class HessianClipped(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.95), rho=0.04, weight_decay=1e-1):
        super().__init__(params, dict(lr=lr, betas=betas, rho=rho, weight_decay=weight_decay))

    @torch.no_grad()
    def update_hessian(self):
        for group in self.param_groups:
            beta2 = group["betas"][1]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "hessian" not in state:
                    state["hessian"] = torch.zeros_like(p)
                state["hessian"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)

    @torch.no_grad()
    def step(self, closure=None, bs=64):
        for group in self.param_groups:
            beta1 = group["betas"][0]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "exp_avg" not in state:
                    state["exp_avg"] = torch.zeros_like(p)
                if "hessian" not in state:
                    state["hessian"] = torch.zeros_like(p)
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state["exp_avg"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                ratio = (state["exp_avg"].abs() / (group["rho"] * bs * state["hessian"] + 1e-15)).clamp(None, 1)
                p.addcmul_(state["exp_avg"].sign(), ratio, value=-group["lr"])


class ChirpNet(nn.Module):
    def __init__(self, vocab, n_species, d=24, length=16):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.randn(length, d) / math.sqrt(d))
        layer = nn.TransformerEncoderLayer(d, 2, 48, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(d, n_species)

    def forward(self, idx, targets=None):
        x = self.blocks(self.tok(idx) + self.pos)
        logits = self.head(x.mean(1))
        loss = F.cross_entropy(logits, targets) if targets is not None else None
        return logits, loss


def get_batch(bs, vocab=12, length=16, n_species=4):
    y = torch.randint(n_species, (bs,))
    idx = (torch.randint(0, 5, (bs, length)) + 2 * y[:, None]) % vocab
    return idx, y


torch.manual_seed(1337)
batch_size, k, max_iters = 32, 4, 24
model = ChirpNet(12, 4)
optimizer = HessianClipped(model.parameters(), lr=4e-3)

for iter_num in range(max_iters):
    X, Y = get_batch(batch_size)
    logits, loss = model(X, Y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step(bs=batch_size)
    optimizer.zero_grad(set_to_none=True)

    if iter_num % k == k - 1:
        logits, _ = model(X)
        samp_dist = torch.distributions.Categorical(logits=logits)
        y_sample = samp_dist.sample()
        loss_sampled = F.cross_entropy(logits, y_sample)
        loss_sampled.backward()
        optimizer.update_hessian()
        optimizer.zero_grad(set_to_none=True)
    if iter_num % 6 == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}")
