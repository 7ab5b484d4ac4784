# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = surv, S
# %% [markdown]
# Discrete-time survival with a small net: hazards per quarter -> survival curve.
# Loss: right-censored log-likelihood + a Brier term on the curve.

# %%
import numpy as np
import torch
import torch.nn as nn

np.random.seed(2)
torch.manual_seed(2)

N, P, T = 160, 6, 8
X = np.random.randn(N, P).astype("float32")
risk = 0.8 * X[:, 0] - 0.6 * X[:, 1] + 0.2 * np.random.randn(N)
base = np.exp(-2.0 + risk)
event_time = np.minimum(np.random.geometric(1 - np.exp(-base)), 50) - 1
cens_time = np.random.randint(2, T + 3, size=N)
last = np.minimum(np.minimum(event_time, cens_time), T - 1)
died = ((event_time <= cens_time) & (event_time < T)).astype("float32")
print("events: %d of %d" % (died.sum(), N))

X = torch.from_numpy(X)
last = torch.from_numpy(last).long()
died = torch.from_numpy(died)


# %%
class HazardNet(nn.Module):
    def __init__(self, p, t, width=24):
        super(HazardNet, self).__init__()
        self.hidden = nn.Linear(p, width)
        self.out = nn.Linear(width, t)
        nn.init.constant_(self.out.bias, -2.0)

    def forward(self, x):
        return torch.sigmoid(self.out(torch.tanh(self.hidden(x))))


def survival_curve(h):
    """S(t) = prod_{k<=t} (1 - h_k), column by column."""
    surv = torch.ones(h.size(0), h.size(1) + 1)
    for t in range(h.size(1)):
        surv[:, t + 1] = surv[:, t] * (1 - h[:, t])  # expect: place
    return surv  # expect: place


def censored_nll(h, S, last, died):
    rows = torch.arange(h.size(0))
    h_last = h[rows, last].clamp(1e-6, 1 - 1e-6)
    s_before = S[rows, last].clamp_min(1e-6)
    ll_event = torch.log(s_before) + torch.log(h_last)
    ll_cens = torch.log(S[rows, last + 1].clamp_min(1e-6))
    return -(died * ll_event + (1 - died) * ll_cens).mean()


def brier(S, last, died):
    score = 0.0
    for t in range(1, S.size(1)):
        gone = ((last < t) & (died > 0)).float()
        known = ((last >= t) | (died > 0)).float()
        score = score + (known * (S[:, t] - (1 - gone)) ** 2).sum() / known.sum()
    return score / (S.size(1) - 1)


# %%
net = HazardNet(P, T)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
history = []
for epoch in range(40):
    perm = torch.randperm(N)
    tot = 0.0
    for b in perm.split(40):
        optimizer.zero_grad()
        h = net(X[b])
        S = survival_curve(h)  # expect: place
        loss = censored_nll(h, S, last[b], died[b]) + 0.5 * brier(S, last[b], died[b])
        loss.backward()  # expect: place
        optimizer.step()
        tot += loss.item() * len(b)
    history.append(tot / N)
    if epoch % 10 == 0:
        print("epoch %d  loss %.4f" % (epoch, history[-1]))

# %%
with torch.no_grad():
    S = survival_curve(net(X))
print("first %.4f last %.4f, median S(T) %.3f" % (history[0], history[-1], S[:, -1].median()))
