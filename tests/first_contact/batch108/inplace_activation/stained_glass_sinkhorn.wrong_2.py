"""Put the panes of a broken window back: a soft permutation by Sinkhorn iterations.

Every window has N panes; a pane has a colour and a lead profile, and fits one opening.
"""
import torch
import torch.nn as nn

N, FEATS = 7, 6


def windows(count, gen):
    openings = torch.randn(count, N, FEATS, generator=gen)
    order = torch.stack([torch.randperm(N, generator=gen) for _ in range(count)])
    panes = torch.gather(openings, 1, order.unsqueeze(-1).expand(-1, -1, FEATS))
    tilt = torch.tensor([1.0, -1.0, 0.5, 2.0, -0.5, 1.5])
    panes = torch.tanh(panes * tilt) + 0.1 * torch.randn(count, N, FEATS, generator=gen)
    return panes, openings, order


class Glazier(nn.Module):
    """Scores pane i in opening j by an inner product of embeddings."""

    def __init__(self, dim=16, rounds=8, eps=0.3):
        super().__init__()
        self.pane = nn.Sequential(nn.Linear(FEATS, 32), nn.Tanh(), nn.Linear(32, dim))
        self.opening = nn.Sequential(nn.Linear(FEATS, 32), nn.Tanh(), nn.Linear(32, dim))
        self.rounds, self.eps = rounds, eps

    def scores(self, panes, openings):
        return torch.einsum("bid,bjd->bij", self.pane(panes), self.opening(openings))

    def forward(self, panes, openings):
        s = self.scores(panes, openings) / self.eps
        s = s - s.amax(dim=(1, 2), keepdim=True).detach()
        plan = s.clamp(min=-30).exp()
        for _ in range(self.rounds):
            plan = plan / plan.sum(dim=2, keepdim=True).detach()
            plan = plan / plan.sum(dim=1, keepdim=True).detach()
        return plan


def set_right(model, panes, openings, order):
    with torch.no_grad():
        guess = model.scores(panes, openings).argmax(2)
    return (guess == order).float().mean().item()


def nll(plan, order):
    picked = torch.gather(plan, 2, order.unsqueeze(-1))
    return -(picked.squeeze(-1) + 1e-8).log().mean()


def main():
    gen = torch.Generator().manual_seed(15)
    torch.manual_seed(15)
    train, test = windows(256, gen), windows(100, gen)
    model = Glazier()
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    for epoch in range(6):
        total = 0.0
        for rows in torch.randperm(256, generator=gen).chunk(8):
            panes, openings, order = (part[rows] for part in train)
            opt.zero_grad()
            loss = nll(model(panes, openings), order)
            loss.backward()
            opt.step()
            total += loss.item() / 8
        sched.step()
        print(f"epoch {epoch}  nll {total:.4f}  panes set right {set_right(model, *test):.1%}")


if __name__ == "__main__":
    main()
