"""SEIR fit to weekly case counts, with a change point for the lockdown."""
import torch
from torch import nn

POP = 1.0e5


class SEIR(nn.Module):
    def __init__(self, lockdown_day: int, days: int):
        super().__init__()
        self.days = days
        self.log_beta0 = nn.Parameter(torch.tensor(0.4).log())
        self.log_beta1 = nn.Parameter(torch.tensor(0.3).log())
        self.log_sigma = nn.Parameter(torch.tensor(0.2).log())
        self.log_gamma = nn.Parameter(torch.tensor(0.15).log())
        self.log_seed = nn.Parameter(torch.tensor(20.0).log())
        ramp = torch.sigmoid((torch.arange(days, dtype=torch.float32) - lockdown_day) / 2.0)
        self.register_buffer("ramp", ramp)

    def rates(self):
        return {k[4:]: v.exp() for k, v in self.named_parameters()}

    def forward(self):
        r = self.rates()
        e = r["seed"]
        i = r["seed"] * 0.5
        s = POP - e - i
        daily = []
        for d in range(self.days):
            beta = r["beta0"] * (1 - self.ramp[d]) + r["beta1"] * self.ramp[d]
            infect = beta * s * i / POP
            onset = r["sigma"] * e
            removed = r["gamma"] * i
            s = s - infect
            e = e + infect - onset
            i = i + onset - removed
            daily.append(onset)
        weekly = torch.stack(daily).view(-1, 7).sum(1)
        return weekly


def log_prior(model):
    centre = {"log_beta0": 0.5, "log_beta1": 0.15, "log_sigma": 0.25, "log_gamma": 0.2, "log_seed": 20.0}
    out = 0.0
    for name, p in model.named_parameters():
        z = (p - torch.tensor(centre[name]).log()) / 0.7
        out = out - 0.5 * z.pow(2)
    return out


def observed(days, lockdown):
    truth = SEIR(lockdown, days)
    with torch.no_grad():
        for name, v in [("beta0", 0.55), ("beta1", 0.12), ("sigma", 0.25), ("gamma", 0.18), ("seed", 30.0)]:
            getattr(truth, "log_" + name).fill_(torch.tensor(v).log())
        return torch.poisson(0.5 + truth())


def negative_log_posterior(model, cases):
    curve = model()
    nll = (curve - cases * torch.log(curve + 1e-6)).sum()
    return (nll - log_prior(model)) / cases.sum()


def fit(model, cases, rounds=6):
    opt = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=8, history_size=10,
                            line_search_fn="strong_wolfe")
    trace = []
    for k in range(rounds):
        def closure():
            opt.zero_grad()
            loss = negative_log_posterior(model, cases)
            loss.backward()
            return loss

        loss = opt.step(closure)
        trace.append(loss.item())
        print(f"round {k}: objective {trace[-1]:.5f}")
    return trace


if __name__ == "__main__":
    torch.manual_seed(19)
    DAYS, LOCK = 12 * 7, 40
    cases = observed(DAYS, LOCK)
    model = SEIR(LOCK, DAYS)
    fit(model, cases)
    r = {k: round(v.item(), 3) for k, v in model.rates().items()}
    print("rates:", r, "R0 before %.2f after %.2f" % (r["beta0"] / r["gamma"], r["beta1"] / r["gamma"]))
