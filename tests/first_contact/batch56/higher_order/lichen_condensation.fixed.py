"""Condense 240 lichen spectra into 2 synthetic spectra a species (dataset distillation).

A student is trained on the synthetic set by differentiable SGD; after every few steps its
loss on real spectra is sent back through them to the synthetic spectra and the step size.
The student keeps on learning through a whole trajectory, then a new one is drawn.
"""
import torch
import torch.nn.functional as F

SPECIES, BANDS, PER_CLASS = 3, 20, 2


def spectra(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(SPECIES, (n,), generator=g)
    wl = torch.linspace(0, 1, BANDS)
    peak = 0.2 + 0.3 * y.float()[:, None] + 0.04 * torch.randn(n, 1, generator=g)
    x = torch.exp(-((wl - peak) / 0.12) ** 2) + 0.5 * wl
    return x + 0.15 * torch.randn(n, BANDS, generator=g), y


def new_student(hidden=16):
    w1 = torch.randn(BANDS, hidden) / BANDS ** 0.5
    w2 = torch.randn(hidden, SPECIES) / hidden ** 0.5
    return [w1.requires_grad_(), torch.zeros(hidden, requires_grad=True),
            w2.requires_grad_(), torch.zeros(SPECIES, requires_grad=True)]


def student(theta, x):
    w1, b1, w2, b2 = theta
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def unroll(theta, syn_x, syn_y, eta, steps):
    for _ in range(steps):
        inner = F.cross_entropy(student(theta, syn_x), syn_y)
        grads = torch.autograd.grad(inner, theta, create_graph=True)
        theta = [w - eta * g for w, g in zip(theta, grads)]
    return theta


def condense(real, trajectories=5, segments=4, steps=3, lr=0.03):
    real_x, real_y = real
    syn_y = torch.arange(SPECIES).repeat_interleave(PER_CLASS)
    syn_x = (0.3 * torch.randn(len(syn_y), BANDS)).requires_grad_()
    log_eta = torch.tensor(0.3).log().requires_grad_()
    outer = torch.optim.Adam([{"params": [syn_x]}, {"params": [log_eta], "lr": 0.02}], lr=lr)

    for traj in range(trajectories):
        theta = new_student()
        shown = []
        for seg in range(segments):
            theta = unroll(theta, syn_x, syn_y, log_eta.exp(), steps)
            pick = torch.randperm(len(real_y))[:80]
            match = F.cross_entropy(student(theta, real_x[pick]), real_y[pick])
            outer.zero_grad()
            match.backward()
            outer.step()
            theta = [w.detach().requires_grad_() for w in theta]
            shown.append(match.item())
        print(f"trajectory {traj}: real loss " + " ".join(f"{v:.3f}" for v in shown)
              + f"  eta {log_eta.exp().item():.3f}")
    return syn_x.detach(), syn_y, log_eta.exp().item()


def evaluate(syn_x, syn_y, eta, test):
    theta = unroll(new_student(), syn_x, syn_y, eta, 30)
    acc = (student(theta, test[0]).argmax(1) == test[1]).float().mean().item()
    print(f"fresh student trained on {len(syn_y)} spectra: accuracy {acc:.2f}")


if __name__ == "__main__":
    torch.manual_seed(12)
    syn = condense(spectra(240, seed=1))
    evaluate(*syn, spectra(120, seed=2))
