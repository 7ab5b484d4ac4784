"""Policy gradient for cache eviction; reward is the discounted number of hits until the day ends."""
import torch

from evictor import Evictor, oldest
from requests_stream import EdgeNode


def day(node, decide, length=150):
    """Returns the hits by request, and what was decided at which request."""
    hits, decisions = [], []
    for t in range(length):
        item = node.next_request()
        hits.append(float(node.hit(item)))
        if hits[-1]:
            continue
        slot = None
        if node.full:
            slot, logp = decide(node.describe())
            decisions.append((t, logp))
        node.store(item, slot)
    return hits, decisions


def returns(hits, gamma=0.95):
    total, out = 0.0, []
    for hit in reversed(hits):
        total = hit + gamma * total
        out.append(total)
    return out[::-1]


def hit_rate(decide, seeds=range(900, 905)):
    rates = []
    for seed in seeds:
        hits, _ = day(EdgeNode(seed=seed), decide)
        rates.append(sum(hits) / len(hits))
    return sum(rates) / len(rates)


def train(days=24, per_step=2, lr=1e-2):
    policy = Evictor()
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    baseline = None
    for start in range(0, days, per_step):
        logps, gains = [], []
        for seed in range(start, start + per_step):
            hits, decisions = day(EdgeNode(seed=seed), policy.choose)
            back = returns(hits)
            logps += [logp for _, logp in decisions]
            gains += [back[t] for t, _ in decisions]
        gains = torch.tensor(gains)
        baseline = gains.mean() if baseline is None else 0.8 * baseline + 0.2 * gains.mean()
        advantage = (gains - baseline) / (gains.std() + 1e-6)
        loss = -(torch.stack(logps) * advantage).mean()
        optimizer.zero_grad()
        loss.requires_grad_(True)
        loss.backward()
        optimizer.step()
        if start % 8 == 0:
            rate = hit_rate(lambda rows: policy.choose(rows, greedy=True))
            print(f"day {start:3d} loss {loss.item():+.3f} greedy hit rate {rate:.3f}")
    return policy


if __name__ == "__main__":
    torch.manual_seed(5)
    print(f"LRU {hit_rate(lambda rows: (oldest(rows), None)):.3f}")
    train()
