"""Who is typing? Virtual adversarial training on key timings, few of them labelled."""
import torch
import torch.nn.functional as F
from torch import nn

XI, EPS = 0.1, 0.6


def key_timings(users, each, dims, rng):
    habits = torch.randn(users, dims, generator=rng)
    noise = 0.8 * torch.randn(users, each, dims, generator=rng)
    x = (habits.unsqueeze(1) + noise).flatten(0, 1)
    y = torch.arange(users).repeat_interleave(each)
    mix = torch.randperm(len(x), generator=rng)
    return x[mix], y[mix]


def divergence(clean_logits, other_logits):
    return F.kl_div(
        F.log_softmax(other_logits, dim=1), F.softmax(clean_logits, dim=1), reduction="batchmean"
    )


def worst_direction(net, x):
    """One power iteration towards the direction in which the answer changes most."""
    with torch.no_grad():
        clean = net(x)
    nudge = torch.randn_like(x, requires_grad=True) * XI
    nudge.retain_grad()
    divergence(clean, net(x + nudge)).backward()
    slope = nudge.grad
    return EPS * slope / (slope.norm(dim=1, keepdim=True) + 1e-8)


def smoothness(net, x):
    step = worst_direction(net, x)
    with torch.no_grad():
        clean = net(x)
    return divergence(clean, net(x + step))


def main():
    torch.manual_seed(13)
    rng = torch.Generator().manual_seed(9)
    x, y = key_timings(users=5, each=40, dims=10, rng=rng)
    labelled = slice(0, 30)

    net = nn.Sequential(nn.Linear(10, 40), nn.LeakyReLU(0.1), nn.Linear(40, 5))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(8):
        for idx in torch.randperm(len(x), generator=rng).split(64):
            regular = smoothness(net, x[idx])
            supervised = F.cross_entropy(net(x[labelled]), y[labelled])
            opt.zero_grad()
            (supervised + regular).backward()
            opt.step()
        with torch.no_grad():
            accuracy = (net(x).argmax(1) == y).float().mean()
        print(f"epoch {epoch}: accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
