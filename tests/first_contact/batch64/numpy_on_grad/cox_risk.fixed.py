"""Cox model with a small network for the log risk, on simulated follow-up data."""
import numpy as np
import torch
from torch import nn


def simulate_cohort(n, rng):
    age = rng.normal(60, 9, n)
    marker = rng.gamma(2.0, 1.0, n)
    treated = rng.integers(0, 2, n)
    log_risk = 0.04 * (age - 60) + 0.5 * np.sqrt(marker) - 0.7 * treated
    event_time = rng.exponential(10 * np.exp(-log_risk))
    censor_time = rng.uniform(2, 25, n)
    time = np.minimum(event_time, censor_time)
    event = (event_time <= censor_time).astype(np.float32)
    x = np.stack([(age - 60) / 9, marker - 2, treated], axis=1).astype(np.float32)
    return x, time.astype(np.float32), event


def cox_loss(log_risk, time, event):
    """Negative log partial likelihood, Breslow handling of ties."""
    order = np.argsort(-time)
    ordered = log_risk[order]
    died = torch.from_numpy(event[order])
    # everybody who is still under observation sits above in the sorted order
    log_at_risk = torch.log(torch.cumsum(torch.exp(ordered), dim=0))
    return -((ordered - log_at_risk) * died).sum() / died.sum()


def concordance(log_risk, time, event):
    hits, pairs = 0.0, 0
    for i in np.flatnonzero(event):
        later = time > time[i]
        pairs += later.sum()
        hits += (log_risk[i] > log_risk[later]).sum() + 0.5 * (log_risk[i] == log_risk[later]).sum()
    return hits / max(pairs, 1)


def batches(n, size, rng):
    perm = rng.permutation(n)
    for start in range(0, n, size):
        yield perm[start:start + size]


def fit(x, time, event, epochs=5, batch_size=50, lr=1e-2, seed=0):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = nn.Sequential(nn.Linear(x.shape[1], 12), nn.SELU(), nn.Linear(12, 1, bias=False))
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-4)
    history = {"loss": [], "c_index": []}
    for _ in range(epochs):
        seen = []
        for rows in batches(len(x), batch_size, rng):
            log_risk = net(torch.from_numpy(x[rows])).squeeze(-1)
            loss = cox_loss(log_risk, time[rows], event[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen.append(loss.item())
        with torch.no_grad():
            scores = net(torch.from_numpy(x)).squeeze(-1).numpy()
        history["loss"].append(float(np.mean(seen)))
        history["c_index"].append(float(concordance(scores, time, event)))
    return net, history


if __name__ == "__main__":
    cohort = simulate_cohort(200, np.random.default_rng(2024))
    _, hist = fit(*cohort)
    for epoch, (loss, c) in enumerate(zip(hist["loss"], hist["c_index"])):
        print(f"epoch {epoch}  loss {loss:.4f}  c-index {c:.3f}")
