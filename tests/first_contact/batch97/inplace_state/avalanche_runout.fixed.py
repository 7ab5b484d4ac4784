"""Back-calculation of Voellmy friction from observed avalanches.

A point mass runs down each surveyed profile. Coulomb friction mu and turbulent friction xi per
forest class are fitted so that front speeds at the gates and the runout agree with the survey.
"""
import torch

G = 9.81
DT = 0.5
STEPS = 60


class Profile:
    """Concave track: steep at the release, flat in the runout zone."""

    def __init__(self, steepness, length):
        self.steepness = steepness
        self.length = length

    def slope(self, s):
        return self.steepness * torch.exp(-s / self.length)


class Voellmy(torch.nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.raw_mu = torch.nn.Parameter(torch.full((classes,), -1.2))
        self.log_xi = torch.nn.Parameter(torch.full((classes,), 6.8))

    def table(self):
        return torch.sigmoid(self.raw_mu), self.log_xi.exp()

    def accelerate(self, slope, speed, forest):
        mu, xi = (column[forest] for column in self.table())
        drive = torch.sin(slope) - mu * torch.cos(slope)
        return G * (drive - speed**2 / xi)

    def run(self, profile, forest):
        """Columns of the state: distance along the track, speed."""
        state = torch.zeros(len(forest), 2)
        state[:, 1] = 1.0
        speeds = []
        for _ in range(STEPS):
            s, speed = state[:, 0], state[:, 1]
            push = self.accelerate(profile.slope(s), speed, forest)
            speed = (speed + DT * push).clamp(min=0.0)
            state = torch.stack([s + DT * speed, speed], 1)
            speeds.append(speed)
        return state[:, 0], torch.stack(speeds, 1)


def survey(count):
    """Tracks of past winters with their forest class, from a hidden friction."""
    profile = Profile(0.55 + 0.25 * torch.rand(count), 300 + 300 * torch.rand(count))
    forest = torch.randint(0, 3, (count,))
    hidden = Voellmy()
    with torch.no_grad():
        hidden.raw_mu.copy_(torch.tensor([-1.7, -1.4, -0.9]))
        hidden.log_xi.copy_(torch.tensor([7.6, 7.0, 6.2]))
        runout, speeds = hidden.run(profile, forest)
        runout = runout * (1 + 0.03 * torch.randn(count))
        speeds = speeds * (1 + 0.05 * torch.randn_like(speeds))
    return profile, forest, runout, speeds


def misfit(model, profile, forest, runout, speeds, gates=(5, 10, 20)):
    ours, ours_speed = model.run(profile, forest)
    of_runout = ((ours - runout) / 100).square().mean()
    picked = list(gates)
    of_speed = ((ours_speed - speeds)[:, picked] / 10).square().mean()
    return of_runout + of_speed, of_runout.sqrt().item() * 100


def main():
    torch.manual_seed(33)
    observed = survey(48)
    model = Voellmy()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 15, gamma=0.5)
    for iteration in range(30):
        optimizer.zero_grad()
        loss, metres = misfit(model, *observed)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if iteration % 5 == 4:
            mu, xi = (column.detach().tolist() for column in model.table())
            print(f"{iteration + 1:3d} misfit {loss.item():.4f} runout error {metres:5.1f} m",
                  "mu", [round(m, 3) for m in mu], "xi", [round(x) for x in xi])


main()
