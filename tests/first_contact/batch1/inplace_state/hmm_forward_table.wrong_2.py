import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(40)


class NeuralHMM(nn.Module):
    """HMM whose emission table comes from a small network; trained by gradient descent."""

    def __init__(self, n_states=4, n_symbols=6, dim=5):
        super().__init__()
        self.state_vec = nn.Parameter(torch.randn(n_states, dim))
        self.emit_net = nn.Sequential(nn.Linear(dim, 12), nn.Tanh(), nn.Linear(12, n_symbols))
        self.trans_logits = nn.Parameter(torch.randn(n_states, n_states))
        self.init_logits = nn.Parameter(torch.zeros(n_states))

    def log_likelihood(self, obs):
        pi = F.softmax(self.init_logits, dim=-1)
        A = F.softmax(self.trans_logits, dim=-1)
        B = F.softmax(self.emit_net(self.state_vec), dim=-1)
        batch, T = obs.shape
        alpha = torch.zeros(T, batch, len(pi))
        log_scale = torch.zeros(batch)
        for t in range(T):
            like = B[:, obs[:, t]].t()
            if t == 0:
                alpha[t] = pi * like
            else:
                alpha[t] = (alpha[t - 1].clone() @ A) * like
            norm = alpha[t].sum(-1, keepdim=True)
            alpha.data[t] = alpha.data[t] / norm.data
            log_scale = log_scale + norm.squeeze(-1).log()
        return log_scale


def chains(n, T, seed):
    g = torch.Generator().manual_seed(seed)
    s = torch.randint(0, 3, (n,), generator=g)
    rows = []
    for _ in range(T):
        rows.append(2 * s + torch.randint(0, 2, (n,), generator=g))
        s = (s + (torch.rand(n, generator=g) < 0.8).long()) % 3
    return torch.stack(rows, dim=1)


class Fitter:
    def __init__(self, model, lr=0.03):
        self.model, self.opt = model, torch.optim.Adam(model.parameters(), lr=lr)
        self.curve = []

    def step(self, obs):
        self.opt.zero_grad()
        nll = -self.model.log_likelihood(obs).mean() / obs.size(1)
        nll.backward()
        self.opt.step()
        self.curve.append(nll.item())


fitter = Fitter(NeuralHMM())
for epoch in range(8):
    fitter.step(chains(10, 8, seed=epoch % 2))
print(" ".join(f"{v:.3f}" for v in fitter.curve))
