"""Modal fit of a violin bridge: admittance from an impact hammer, level and unwrapped phase."""
import math

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
FREQ = torch.linspace(200.0, 1200.0, 160)


def admittance(log_f, log_q, re, im):
    """Sum of complex modes; residues are complex because the damping isn't proportional."""
    f0, q = log_f.exp()[:, None], log_q.exp()[:, None]
    s = FREQ[None, :] / f0
    modes = 1j * s / (1 - s ** 2 + 1j * s / q)
    return (torch.complex(re, im)[:, None] * modes).sum(0)


def level_db(H):
    return 20 * torch.log10(H.abs() + 1e-9)


def unrolled_phase(H):
    """Phase along the sweep without the jumps at plus and minus pi."""
    phase = torch.angle(H)
    wrapped = phase.detach().numpy()
    return phase + torch.from_numpy(np.unwrap(wrapped) - wrapped)


def measure(seed):
    g = torch.Generator().manual_seed(seed)
    H = admittance(torch.tensor([285.0, 460.0, 545.0, 880.0]).log(), torch.tensor([25.0, 30.0, 28.0, 18.0]).log(),
                   torch.tensor([1.0, 0.7, -0.9, 1.4]), torch.tensor([0.1, -0.2, 0.1, 0.3]))
    noise = torch.complex(torch.randn(len(FREQ), generator=g), torch.randn(len(FREQ), generator=g))
    return H + 0.02 * noise


class BridgeFit:
    def __init__(self, guesses, phase_weight=4.0):
        n = len(guesses)
        self.log_f = torch.tensor(guesses).log().requires_grad_()
        self.log_q = torch.full((n,), math.log(15.0), requires_grad=True)
        self.re = torch.tensor([1.0, 1.0, -1.0, 1.0], requires_grad=True)
        self.im = torch.zeros(n, requires_grad=True)
        self.opt = torch.optim.Adam([{"params": [self.log_f], "lr": 2e-3},
                                     {"params": [self.log_q, self.re, self.im], "lr": 3e-2}])
        self.phase_weight = phase_weight

    def model(self):
        return admittance(self.log_f, self.log_q, self.re, self.im)

    def misfit(self, level, phase):
        H = self.model()
        gap = unrolled_phase(H) - phase
        return ((level_db(H) - level) / 6).pow(2).mean() + self.phase_weight * gap.pow(2).mean()

    def run(self, H_measured, rounds=120):
        level, phase = level_db(H_measured), unrolled_phase(H_measured)
        for k in range(rounds):
            self.opt.zero_grad()
            loss = self.misfit(level, phase)
            loss.backward()
            self.opt.step()
            if k % 30 == 0:
                print(f"round {k:3d}: misfit {loss.item():.4f}")
        return loss.item()

    def report(self):
        with torch.no_grad():
            for f, q, r, i in zip(self.log_f.exp(), self.log_q.exp(), self.re, self.im):
                print(f"  {f:7.1f} Hz  Q {q:5.1f}  residue {r:+.2f}{i:+.2f}j")


def main():
    fit = BridgeFit([280.0, 450.0, 560.0, 860.0])
    final = fit.run(measure(5))
    print(f"final misfit {final:.4f}")
    fit.report()


main()
