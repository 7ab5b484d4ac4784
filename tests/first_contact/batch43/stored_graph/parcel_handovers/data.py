import torch


def handovers(n_events=160, n_depots=14, edge_dim=3):
    src = torch.randint(n_depots, (n_events,))
    dst = (src + torch.randint(1, 4, (n_events,))) % n_depots
    ts = torch.rand(n_events).cumsum(0)
    feat = torch.randn(n_events, edge_dim)
    return src, dst, ts, feat, n_depots
