import argparse

import torch


def survey(n_tags, n_beacons, noise):
    beacons = torch.rand(n_beacons, 2) * 20
    tags = torch.rand(n_tags, 2) * 20
    clock = torch.tensor([0.3, -0.2, 0.1, 0.0, 0.25, -0.15])[:n_beacons]
    ranges = torch.cdist(tags, beacons) + clock + noise * torch.randn(n_tags, n_beacons)
    return beacons, tags, ranges


class Multilateration(torch.nn.Module):
    """Tag positions and one clock bias a beacon, all free."""

    def __init__(self, n_tags, n_beacons):
        super().__init__()
        self.where = torch.nn.Parameter(10 + torch.randn(n_tags, 2))
        self.bias = torch.nn.Parameter(torch.zeros(n_beacons))

    def forward(self, beacons):
        return torch.cdist(self.where, beacons) + self.bias


def huber(r, knee):
    small = r.abs() <= knee
    return torch.where(small, 0.5 * r ** 2, knee * (r.abs() - 0.5 * knee)).mean()


def locate(args):
    beacons, truth, ranges = survey(args.tags, args.beacons, args.noise)
    solver = Multilateration(args.tags, args.beacons)
    lbfgs = torch.optim.LBFGS(solver.parameters(), lr=args.lr, max_iter=args.inner)

    for stage in range(args.stages):
        knee = 4.0 / (stage + 1)
        reach = solver(beacons)

        def closure():
            lbfgs.zero_grad()
            cost = huber(reach.detach() - ranges, knee) + 1e-3 * solver.bias.pow(2).sum()
            cost.backward()
            return cost

        cost = lbfgs.step(closure)
        err = (solver.where.detach() - truth).norm(dim=1).mean()
        print(f"stage {stage}: cost {cost.item():.4f}, mean position error {err:.3f} m")
    return solver


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--tags", type=int, default=12)
    cli.add_argument("--beacons", type=int, default=6)
    cli.add_argument("--noise", type=float, default=0.05)
    cli.add_argument("--lr", type=float, default=0.5)
    cli.add_argument("--inner", type=int, default=8)
    cli.add_argument("--stages", type=int, default=5)
    cli.add_argument("--seed", type=int, default=2)
    options = cli.parse_args()
    torch.manual_seed(options.seed)
    locate(options)
