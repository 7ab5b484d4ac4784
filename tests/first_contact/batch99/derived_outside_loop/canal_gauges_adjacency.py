# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = supports, adj, adaptive, adaptive_adjacency
"""Levels at the gauges of an irrigation network, an hour ahead, on a graph that is learnt."""
import torch
import torch.nn as nn
import torch.nn.functional as F

GAUGES, LAGS, HIDDEN, EMB = 10, 8, 16, 4


def glorot(*shape):
    w = torch.empty(*shape)
    nn.init.xavier_uniform_(w)
    return w.requires_grad_()


def init_params():
    return {
        "src": glorot(GAUGES, EMB),
        "dst": glorot(EMB, GAUGES),
        "w_in": glorot(LAGS, HIDDEN),
        "w_known": glorot(HIDDEN, HIDDEN),
        "w_learnt": glorot(HIDDEN, HIDDEN),
        "w_self": glorot(HIDDEN, HIDDEN),
        "w_out": glorot(HIDDEN, 1),
        "b_out": torch.zeros(1, requires_grad=True),
    }


def canal_order():
    """Every gauge knows the one above it; that much is on the map."""
    a = torch.eye(GAUGES)
    for g in range(1, GAUGES):
        a[g, g - 1] = 1.0
    return a / a.sum(1, keepdim=True)


def adaptive_adjacency(p):
    return F.softmax(F.relu(p["src"] @ p["dst"]), dim=1)  # expect: place


def forward(p, supports, x):
    known, learnt = supports
    h = torch.tanh(x @ p["w_in"])
    mixed = (torch.einsum("gk,bkh->bgh", known, h) @ p["w_known"]
             + torch.einsum("gk,bkh->bgh", learnt, h) @ p["w_learnt"])  # expect: place
    h = torch.relu(h @ p["w_self"] + mixed)
    return (h @ p["w_out"] + p["b_out"]).squeeze(-1)


def simulate(hours, gen):
    level = torch.zeros(hours, GAUGES)
    hidden_link = torch.zeros(GAUGES, GAUGES)
    hidden_link[6, 1] = hidden_link[9, 3] = 0.35  # culverts that nobody drew in
    gate = (torch.rand(hours, generator=gen) < 0.1).float()
    for t in range(1, hours):
        above = torch.cat([gate[t:t + 1], level[t - 1, :-1]])
        level[t] = 0.6 * level[t - 1] + 0.3 * above + hidden_link @ level[t - 1]
        level[t] += 0.02 * torch.randn(GAUGES, generator=gen)
    return (level - level.mean(0)) / level.std(0)


def windows(level):
    x = level.unfold(0, LAGS + 1, 1)  # (windows, gauges, lags + 1)
    return x[..., :LAGS].contiguous(), x[..., LAGS].contiguous()


def main():
    torch.manual_seed(52)
    gen = torch.Generator().manual_seed(9)
    x, y = windows(simulate(420, gen))
    cut = 320
    p = init_params()
    opt = torch.optim.Adam(list(p.values()), lr=4e-3, weight_decay=1e-5)
    supports = [canal_order(), adaptive_adjacency(p)]  # expect: place
    print("parameters:", sum(v.numel() for v in p.values()))

    for epoch in range(1, 6):
        total, seen = 0.0, 0
        for idx in torch.randperm(cut, generator=gen).split(64):
            opt.zero_grad()
            guess = forward(p, supports, x[idx])  # expect: place
            loss = F.l1_loss(guess, y[idx])
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(list(p.values()), 5.0)
            opt.step()
            total, seen = total + loss.item() * len(idx), seen + len(idx)
        with torch.no_grad():
            mae = F.l1_loss(forward(p, supports, x[cut:]), y[cut:]).item()
        print(f"epoch {epoch}: train {total / seen:.4f}, held out {mae:.4f}")

    with torch.no_grad():
        strongest = adaptive_adjacency(p).fill_diagonal_(0).flatten().topk(4).indices
    for k in strongest.tolist():
        print(f"gauge {k // GAUGES} listens to {k % GAUGES}")


if __name__ == "__main__":
    main()
