# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = w
# %% [markdown]
# Long-only allocation: maximise mean - lambda * CVaR on bootstrapped scenarios,
# projected gradient (clip at zero, renormalise to fully invested)

# %%
import numpy as np
import torch

rng = np.random.default_rng(3)
torch.manual_seed(3)

tickers = ["EQ_US", "EQ_EU", "EQ_EM", "GOV_10Y", "CORP", "GOLD", "REIT", "CASH"]
n = len(tickers)

# %% fake weekly history
factor = rng.normal(size=(520, 2)) * np.array([0.018, 0.008])
load = rng.normal(size=(2, n)) * 0.6 + np.array([[1.0], [0.2]]) * np.array([1, 1, 1.2, -0.2, 0.1, 0.0, 0.9, 0.0])
drift = np.array([14, 11, 13, 4, 6, 5, 10, 2.5]) / 52 / 100
hist = factor @ load + rng.normal(size=(520, n)) * np.array([8, 9, 14, 4, 5, 12, 11, 0.2]) / 100 / np.sqrt(52) + drift
hist = torch.tensor(hist, dtype=torch.float32)
print("history", tuple(hist.shape), "ann. mean %", (hist.mean(0) * 5200).round(decimals=1).tolist())

# %%
def block_bootstrap(h, n_paths, horizon, block=4):
    """(paths, horizon, assets) from overlapping blocks"""
    starts = torch.randint(0, h.shape[0] - block, (n_paths, horizon // block))
    idx = (starts.unsqueeze(-1) + torch.arange(block)).reshape(n_paths, -1)
    return h[idx]


def cvar(x, alpha=0.1):
    k = max(1, int(alpha * x.numel()))
    worst, _ = torch.topk(-x, k)
    return worst.mean()


# %%
lam = 0.35
cost_bps = 8.0
current = torch.full((n,), 1.0 / n)

w = torch.full((n,), 1.0 / n, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.4, momentum=0.5)

log = []
for it in range(120):
    scen = block_bootstrap(hist, 256, 12)
    growth = (1 + scen @ w).prod(1) - 1
    turnover = (w - current).abs().sum() * cost_bps / 1e4
    objective = -(growth.mean() - lam * cvar(growth) - turnover)

    opt.zero_grad()
    objective.backward()
    opt.step()

    # back onto the simplex
    w = w.detach().clamp(min=0.0)
    w = (w / w.sum()).requires_grad_()

    log.append(objective.item())
    if it % 30 == 0:
        print(f"{it:3d}  objective {np.mean(log[-30:]):+.5f}  top: {tickers[int(w.argmax())]}")

# %%
for name, x in sorted(zip(tickers, w.tolist()), key=lambda p: -p[1]):
    print(f"{name:8s} {100 * x:5.1f} %")
print("sum", round(w.sum().item(), 4))
