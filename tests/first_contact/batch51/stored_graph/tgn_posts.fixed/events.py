from dataclasses import dataclass

import torch


@dataclass
class World:
    n_users: int
    n_posts: int
    group: torch.Tensor
    features: torch.Tensor
    edge_basis: torch.Tensor
    n_events: int = 320


def make_world(n_users, n_posts, edge_dim, gen):
    n = n_users + n_posts
    group = torch.arange(n) % 3
    features = torch.nn.functional.one_hot(group, 3).float() + 0.4 * torch.randn(n, 3, generator=gen)
    return World(n_users, n_posts, group, features, torch.randn(3, edge_dim, generator=gen))


def interaction_stream(world, batch, gen):
    """Users mostly touch posts of their own group."""
    src = torch.randint(0, world.n_users, (world.n_events,), generator=gen)
    dst = []
    for u in src.tolist():
        posts = torch.arange(world.n_users, world.n_users + world.n_posts)
        own = posts[world.group[posts] == world.group[u]]
        pool = own if torch.rand(1, generator=gen) < 0.9 else posts
        dst.append(int(pool[torch.randint(0, len(pool), (1,), generator=gen)]))
    dst = torch.tensor(dst)
    feat = world.edge_basis[world.group[src]] + 0.1 * torch.randn(len(src), world.edge_basis.shape[1], generator=gen)
    when = torch.cumsum(torch.rand(len(src), generator=gen), 0) / 10
    for i in range(0, world.n_events, batch):
        j = slice(i, i + batch)
        yield src[j], dst[j], feat[j], when[j]
