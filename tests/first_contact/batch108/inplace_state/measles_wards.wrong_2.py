"""Measles between wards: an SEIR model whose contact matrix and school effect are fitted to reports.

Written first in NumPy for the county's report, ported to torch to get gradients.
"""
import torch
import torch.nn.functional as F

WARDS, WEEKS, DAYS = 4, 12, 7
S, E, I, R = range(4)


class Theta(torch.nn.Module):
    def __init__(self, contact=None, school=0.0, detect=0.0):
        super().__init__()
        start = torch.full((WARDS, WARDS), -3.0) + 2.5 * torch.eye(WARDS)
        self.raw_contact = torch.nn.Parameter(start if contact is None else contact)
        self.school = torch.nn.Parameter(torch.tensor(float(school)))
        self.detect = torch.nn.Parameter(torch.tensor(float(detect)))


def term_time(day):
    return 1.0 if (day // DAYS) % 6 < 4 else 0.0


def simulate(theta, seeds, sigma=1 / 6, gamma=1 / 5):
    """Reported cases, weeks by wards; everything as a share of the ward."""
    contacts = F.softplus(theta.raw_contact)
    state = torch.zeros(4, WARDS)
    state[I] = seeds
    state[S] = 1.0 - seeds
    weekly = []
    for week in range(WEEKS):
        fresh = torch.zeros(WARDS)
        for day in range(week * DAYS, (week + 1) * DAYS):
            boost = torch.exp(theta.school * term_time(day))
            infected = state[S] * (contacts @ state[I]) * boost
            falling_ill = sigma * state[E]
            healing = gamma * state[I]
            state.data[S] -= infected
            state.data[E] += infected - falling_ill
            state.data[I] += falling_ill - healing
            state.data[R] += healing
            fresh = fresh + falling_ill
        weekly.append(torch.sigmoid(theta.detect) * fresh)
    return torch.stack(weekly)


def misfit(expected, reports):
    return (expected.clamp(min=1e-7).sqrt() - reports.sqrt()).pow(2).sum()


def observed(seeds):
    g = torch.Generator().manual_seed(6)
    truth = Theta(torch.full((WARDS, WARDS), -2.6) + 2.0 * torch.eye(WARDS), 0.4, -0.5)
    with torch.no_grad():
        cases = simulate(truth, seeds)
    return cases * (0.15 * torch.randn(cases.shape, generator=g)).exp()


def main():
    torch.manual_seed(0)
    seeds = torch.tensor([4e-3, 1e-3, 5e-4, 2e-3])
    reports = observed(seeds)
    theta = Theta()
    opt = torch.optim.Adam(theta.parameters(), lr=0.05)
    best = float("inf")
    for it in range(10):
        opt.zero_grad()
        loss = misfit(simulate(theta, seeds), reports) + 1e-4 * theta.raw_contact.pow(2).sum()
        loss.backward()
        opt.step()
        if loss.item() < best:
            best, kept = loss.item(), {k: v.clone() for k, v in theta.state_dict().items()}
        if it % 3 == 0:
            print(f"{it:3d} misfit {loss.item():.5f} school x{theta.school.exp().item():.2f}")
    print("kept", best, torch.sigmoid(kept["detect"]).item())


main()
