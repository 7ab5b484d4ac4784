"""Second-order equivalent circuit of a coin cell, fitted to a pulse test.

    V(t) = OCV(soc) - I r0 - v1 - v2,   tau_k dv_k/dt = I r_k - v_k

The parameters are kept within what is physical after every step, as in the old MATLAB script.
"""
import torch
from torch import nn

CAPACITY = 0.22 * 3600  # coulombs
DT = 5.0


def pulse_test(rests=4, on=24, off=36, current=0.06):
    pattern = torch.cat([torch.full((on,), current), torch.zeros(off)])
    return pattern.repeat(rests)


class Circuit(nn.Module):
    BOUNDS = {"r": (0.05, 3.0), "tau": (8.0, 600.0)}

    def __init__(self, r, tau, knots=6):
        super().__init__()
        self.r = nn.Parameter(torch.tensor(r))
        self.tau = nn.Parameter(torch.tensor(tau))
        self.ocv = nn.Parameter(torch.linspace(2.6, 3.1, knots))

    def open_circuit(self, soc):
        place = soc.clamp(0, 1) * (len(self.ocv) - 1)
        left = place.floor().long().clamp(max=len(self.ocv) - 2)
        return torch.lerp(self.ocv[left], self.ocv[left + 1], place - left)

    def forward(self, current, soc=1.0):
        decay = torch.exp(-DT / self.tau)
        pairs = torch.zeros(2)
        out = []
        for amps in current:
            soc = soc - amps * DT / CAPACITY
            pairs = decay * pairs + (1 - decay) * self.r[1:] * amps
            out.append(self.open_circuit(soc) - self.r[0] * amps - pairs.sum())
        return torch.stack(out)

    def project(self):
        for name, (low, high) in self.BOUNDS.items():
            value = getattr(self, name)
            value.detach().clone().clamp_(low, high)


def synthetic(current):
    true = Circuit([0.9, 0.5, 1.4], [15.0, 140.0])
    with torch.no_grad():
        true.ocv.copy_(torch.tensor([2.45, 2.72, 2.84, 2.90, 2.97, 3.08]))
        volts = true(current)
    return volts + 2e-4 * torch.randn(len(volts)), true


def groups(circuit):
    """Ohms, seconds and volts want different steps."""
    return [{"params": [circuit.r], "lr": 2e-2},
            {"params": [circuit.tau], "lr": 2.0},
            {"params": [circuit.ocv], "lr": 4e-3}]


def describe(circuit):
    ohms = ", ".join(f"{v:.2f}" for v in circuit.r.tolist())
    seconds = ", ".join(f"{v:.0f}" for v in circuit.tau.tolist())
    return f"r = [{ohms}] ohm, tau = [{seconds}] s"


def fit(current, volts, iterations=40):
    circuit = Circuit([0.1, 0.1, 2.9], [10.0, 60.0])
    optimizer = torch.optim.Adam(groups(circuit))
    best = (float("inf"), None)
    for it in range(iterations):
        optimizer.zero_grad()
        misfit = 1e3 * (circuit(current) - volts)  # millivolts
        loss = misfit.square().mean()
        loss.backward()
        optimizer.step()
        circuit.project()
        rms = loss.item() ** 0.5
        if rms < best[0]:
            best = rms, {k: v.clone() for k, v in circuit.state_dict().items()}
        if it % 10 == 0:
            print(f"{it:3d} rms {rms:7.2f} mV  {describe(circuit)}")
    circuit.load_state_dict(best[1])
    return circuit, best[0]


def main():
    torch.manual_seed(3)
    current = pulse_test()
    volts, true = synthetic(current)
    circuit, rms = fit(current, volts)
    print(f"best {rms:.2f} mV: {describe(circuit)}")
    print(f"true:          {describe(true)}")


main()
