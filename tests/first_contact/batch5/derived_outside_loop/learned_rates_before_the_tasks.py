# expect: pattern = derived-outside-loop
# expect: also = higher-order, shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rates, lrs
"""Meta-SGD on pump curves: an inner rate for each weight is learned with the initial weights."""
import torch
import torch.nn.functional as F

META, TASKS, SHOTS, INNER = 4, 3, 6, 2


def curve():
    a, b = torch.rand(2) * 2
    flow = torch.rand(2 * SHOTS, 1)
    head = 1 + a - (1 + b) * flow ** 2
    return (flow[:SHOTS], head[:SHOTS]), (flow[SHOTS:], head[SHOTS:])


def forward(w, x):
    return torch.tanh(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]


def init():
    w = {"w1": torch.randn(1, 12), "b1": torch.zeros(12), "w2": torch.randn(12, 1) * 0.3, "b2": torch.zeros(1)}
    return {k: v.requires_grad_() for k, v in w.items()}


def adapt(w, rates, support):
    x, y = support
    for _ in range(INNER):
        grads = torch.autograd.grad(F.mse_loss(forward(w, x), y), list(w.values()), create_graph=True)
        w = {k: v - rates[k] * g for (k, v), g in zip(w.items(), grads)}
    return w


def main():
    torch.manual_seed(17)
    theta = init()
    raw = {k: torch.full_like(v, -3.0).detach().requires_grad_() for k, v in theta.items()}
    meta = torch.optim.Adam([*theta.values(), *raw.values()], lr=5e-3)
    for step in range(META):
        meta.zero_grad()
        rates = {k: F.softplus(r) for k, r in raw.items()}  # expect: place
        seen = []
        for _ in range(TASKS):
            support, query = curve()
            fast = adapt(theta, rates, support)  # expect: place
            outer = F.mse_loss(forward(fast, query[0]), query[1]) / TASKS
            outer.backward()  # expect: place
            seen.append(outer.item())
        meta.step()
        print(step, round(sum(seen), 5))


if __name__ == "__main__":
    main()
