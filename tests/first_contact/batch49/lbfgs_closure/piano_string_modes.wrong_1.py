


# %% [markdown]
# Homework 5, part 2: modal synthesis of a piano string
# partial k:  f_k = k * f0 * sqrt(1 + B k^2),   amplitude a_k,   decay d_k = b0 + b1 * k^2
# find a, b0, b1 and B from one recorded note

# %%
import torch
import numpy as np
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

SR = 4000
N = 1024
K = 8
f0 = 130.8
t = torch.arange(N) / SR
k = torch.arange(1, K + 1, dtype=torch.float64)

# %%
def synth(log_a, log_b, log_B):
    B = log_B.exp()
    freq = k * f0 * torch.sqrt(1 + B * k ** 2)
    b0, b1 = log_b.exp()
    decay = b0 + b1 * k ** 2
    partials = torch.sin(2 * np.pi * freq[:, None] * t) * torch.exp(-decay[:, None] * t)
    return (log_a.exp()[:, None] * partials).sum(0)

# the "recording" (same model + a bit of noise, the TA said that's ok)
true_a = torch.log(1.0 / k ** 1.2)
true_b = torch.log(torch.tensor([3.0, 0.15]))
true_B = torch.log(torch.tensor(4e-4))
recording = synth(true_a, true_b, true_B) + 0.002 * torch.randn(N)

# %% multi resolution spectral distance
windows = [torch.hann_window(n) for n in (64, 256, 512)]

def spectrum(x, win):
    s = torch.stft(x, len(win), hop_length=len(win) // 4, window=win, return_complex=True)
    return (s.real ** 2 + s.imag ** 2 + 1e-8).sqrt()

targets = [spectrum(recording, w) for w in windows]

def distance(x):
    d = 0
    for w, target in zip(windows, targets):
        s = spectrum(x, w)
        d = d + ((s - target) ** 2).sum().sqrt() / target.norm()
        d = d + (s.log() - target.log()).abs().mean() * 0.1
    return d

# %% parameters, start flat
log_a = torch.full((K,), -1.0, requires_grad=True)
log_b = torch.log(torch.tensor([6.0, 0.4])).requires_grad_()
log_B = torch.log(torch.tensor(3e-4)).requires_grad_()
opt = torch.optim.LBFGS([log_a, log_b, log_B], lr=0.5, max_iter=8, history_size=10)

# %%
history = []
for it in range(6):
    tone = synth(log_a, log_b, log_B)
    loss = distance(tone)

    def closure():
        opt.zero_grad()
        loss.backward(retain_graph=True)
        return loss

    opt.step(closure)
    history.append(loss.item())
    print(it, "distance %.4f" % history[-1])

# %% results
with torch.no_grad():
    print("amplitudes found:", log_a.exp().numpy().round(2))
    print("amplitudes true :", true_a.exp().numpy().round(2))
    print("B found: %.2e   true: %.2e" % (log_B.exp(), true_B.exp()))
    print("b0 %.2f b1 %.3f" % tuple(log_b.exp()))
