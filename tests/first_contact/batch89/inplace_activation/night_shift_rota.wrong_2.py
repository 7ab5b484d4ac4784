"""Learning from old rotas who takes which shift: scores, noise, and a doubly stochastic plan."""
import torch
import torch.nn as nn

STAFF = 9


def old_rotas(weeks, g):
    """Each week the ward sister gave the shifts out by a rule that she could not put in words."""
    people = torch.randn(weeks, STAFF, 4, generator=g)
    shifts = torch.randn(weeks, STAFF, 3, generator=g)
    rule = torch.randn(4, 3, generator=g)
    liking = torch.einsum("wpi,ij,wsj->wps", people, rule, shifts)
    given = torch.full((weeks, STAFF), -1)
    for week in range(weeks):
        left = liking[week].clone()
        for _ in range(STAFF):
            person, shift = divmod(int(left.argmax()), STAFF)
            given[week, person] = shift
            left[person], left[:, shift] = -1e9, -1e9
    return people, shifts, given


def gumbel_like(x):
    return -torch.log(-torch.log(torch.rand_like(x).clamp(1e-6, 1 - 1e-6)))


def sinkhorn(scores, tau, rounds):
    plan = torch.exp((scores - scores.amax((-2, -1), keepdim=True)) / tau)
    for _ in range(rounds):
        plan = plan / plan.sum(-1, keepdim=True).detach()
        plan = plan / plan.sum(-2, keepdim=True).detach()
    return plan


class RotaNet(nn.Module):
    def __init__(self, width=12, tau=0.8, rounds=8, noise=0.2):
        super(RotaNet, self).__init__()
        self.person = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width))
        self.shift = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width))
        self.tau, self.rounds, self.noise = tau, rounds, noise

    def forward(self, people, shifts):
        scores = self.person(people) @ self.shift(shifts).transpose(-1, -2)
        if self.training:
            scores = scores + self.noise * gumbel_like(scores)
        return sinkhorn(scores, self.tau, self.rounds)


def surprise(plan, given):
    return -torch.log(plan.gather(-1, given[..., None]) + 1e-8).mean()


def kept(plan, given):
    return (plan.argmax(-1) == given).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(17)
    people, shifts, given = old_rotas(60, torch.Generator().manual_seed(17))
    net = RotaNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    best, best_state = 0.0, None
    for epoch in range(6):
        net.train()
        for weeks in torch.randperm(48).split(16):
            loss = surprise(net(people[weeks], shifts[weeks]), given[weeks])
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            share = kept(net(people[48:], shifts[48:]), given[48:])
        if share >= best:
            best, best_state = share, {k: v.clone() for k, v in net.state_dict().items()}
        print("epoch %d  loss %.4f  as the sister did: %.2f" % (epoch, loss.item(), share))
    net.load_state_dict(best_state)
    print("best", round(best, 3))
