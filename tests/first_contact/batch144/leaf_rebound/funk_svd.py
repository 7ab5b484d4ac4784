# expect: pattern = leaf-rebound
# expect: raises = ValueError: can't optimize a non-leaf Tensor
# expect: carrier = P, Q, params, init_factors
"""Matrix factorization with biases ("Funk SVD") for star ratings, no nn.Module."""
import math
import time

import numpy as np
import torch

N_USERS = 120
N_ITEMS = 70
RANK = 8
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_ratings(n_ratings=4000, seed=3):
    rng = np.random.RandomState(seed)
    p = rng.randn(N_USERS, 3)
    q = rng.randn(N_ITEMS, 3)
    mood = 0.4 * rng.randn(N_USERS)
    fame = 0.6 * rng.randn(N_ITEMS)
    u = rng.randint(0, N_USERS, n_ratings)
    i = rng.randint(0, N_ITEMS, n_ratings)
    r = 3.4 + mood[u] + fame[i] + 0.5 * (p[u] * q[i]).sum(1) + 0.3 * rng.randn(n_ratings)
    r = np.clip(np.round(r * 2) / 2, 0.5, 5.0)
    return u, i, r.astype(np.float32)


def to_device(*arrays):
    return [torch.from_numpy(np.asarray(a)).to(DEVICE) for a in arrays]


def init_factors(n_rows, rank, scale=0.1):
    return torch.randn(n_rows, rank, requires_grad=True) * scale  # expect: place


def init_bias(n_rows):
    return torch.zeros(n_rows, requires_grad=True, device=DEVICE)


def predict(params, mu, u, i):
    P, Q, b_u, b_i = params
    return mu + b_u[u] + b_i[i] + (P[u] * Q[i]).sum(dim=1)


def objective(params, mu, u, i, r, lam):
    P, Q, b_u, b_i = params
    err = (predict(params, mu, u, i) - r).pow(2).mean()
    reg = P[u].pow(2).sum(1).mean() + Q[i].pow(2).sum(1).mean()
    reg = reg + b_u[u].pow(2).mean() + b_i[i].pow(2).mean()
    return err + lam * reg


def rmse(params, mu, u, i, r):
    with torch.no_grad():
        guess = predict(params, mu, u, i).clamp(0.5, 5.0)
        return math.sqrt((guess - r).pow(2).mean().item())


def fit(train, valid, epochs=8, batch=256, lr=0.02, lam=0.02):
    u, i, r = train
    mu = r.mean()
    P = init_factors(N_USERS, RANK)  # expect: place
    Q = init_factors(N_ITEMS, RANK)  # expect: place
    b_u = init_bias(N_USERS)
    b_i = init_bias(N_ITEMS)
    params = [P, Q, b_u, b_i]

    opt = torch.optim.Adam(params, lr=lr)  # expect: place
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)

    best = float("inf")
    for epoch in range(epochs):
        t0 = time.time()
        order = torch.randperm(len(r))
        for idx in order.split(batch):
            opt.zero_grad()
            loss = objective(params, mu, u[idx], i[idx], r[idx], lam)
            loss.backward()
            opt.step()
        sched.step()
        score = rmse(params, mu, *valid)
        best = min(best, score)
        print("epoch %2d  valid rmse %.4f  (%.2fs)" % (epoch + 1, score, time.time() - t0))
    return params, mu, best


def recommend(params, mu, user, k=5):
    with torch.no_grad():
        items = torch.arange(N_ITEMS, device=DEVICE)
        scores = predict(params, mu, torch.full_like(items, user), items)
        return scores.topk(k).indices.tolist()


if __name__ == "__main__":
    torch.manual_seed(3)
    u, i, r = to_device(*make_ratings())
    cut = int(0.85 * len(r))
    params, mu, best = fit((u[:cut], i[:cut], r[:cut]), (u[cut:], i[cut:], r[cut:]))
    print("best rmse %.4f" % best)
    print("for user 0:", recommend(params, mu, 0))
