# expect: pattern = higher-order
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fast, loss, grads
"""Learn how much each auxiliary quantity should count, so that yield is foretold in new regions."""
import torch
from torch import nn

from fields import AUXILIARY, CHANNELS, region
from unroll import CropNet, inner_steps, per_task

INNER_LR = 0.1
STEPS = 3


def draw(x, y, count, size=24):
    for _ in range(count):
        rows = torch.randint(len(x), (size,))
        yield x[rows], y[rows]


def commit(fast):
    """The unrolled weights become the start of the next round."""
    return {name: p.detach().requires_grad_() for name, p in fast.items()}


def score(net, params, regions):
    with torch.no_grad():
        return [per_task(net, params, x, y)[0].item() / y[:, 0].var().item() for x, y in regions]


def main(rounds=40):
    torch.manual_seed(30)
    home = region(seed=1, plots=120)
    away = [region(seed=s) for s in (2, 3, 4)]
    unseen = [region(seed=s) for s in (5, 6)]
    net = CropNet(CHANNELS, 1 + len(AUXILIARY))
    params = commit(dict(net.named_parameters()))
    raw = nn.Parameter(torch.zeros(len(AUXILIARY)))
    meta = torch.optim.Adam([raw], lr=0.05)
    trace = []
    for number in range(1, rounds + 1):
        weights = nn.functional.softplus(raw)
        fast = inner_steps(net, params, weights, draw(*home, STEPS), INNER_LR)  # expect: place
        meta.zero_grad()
        outer = 0.0
        for x, y in away:  # expect: place
            loss = per_task(net, fast, x, y)[0] / len(away)  # expect: place
            loss.backward()  # expect: place
            outer += loss.item()
        meta.step()
        params = commit(fast)
        trace.append((outer, weights.tolist()))
        if number % 10 == 0:
            told = ", ".join(f"{name} {w:.2f}" for name, w in zip(AUXILIARY, trace[-1][1]))
            print(f"round {number}: away {outer:.4f}; {told}")
    print("unexplained in unseen regions", [round(s, 3) for s in score(net, params, unseen)])


if __name__ == "__main__":
    main()
