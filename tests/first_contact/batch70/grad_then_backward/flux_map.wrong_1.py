# expect: pattern = grad-then-backward
# expect: also = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = psi, dpsi
"""Flux surface reconstruction from magnetics, for the shape controller of a small tokamak."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Diagnostics:
    loops: torch.Tensor       # (R, Z) of flux loops
    flux: torch.Tensor
    probes: torch.Tensor      # (R, Z) of pick-up coils
    field: torch.Tensor       # B_R, B_Z


def solovev_flux(rz):
    r, z = rz[:, 0], rz[:, 1]
    return 0.5 * (r**2 - 1.0) ** 2 + r**2 * z**2


def solovev_field(rz):
    r, z = rz[:, 0], rz[:, 1]
    return torch.stack([-2 * r * z, 2 * (r**2 - 1.0) + 2 * z**2], dim=1)


def discharge(n_loops=40, n_probes=60):
    def place(n):
        return torch.stack([0.6 + 0.8 * torch.rand(n), -0.6 + 1.2 * torch.rand(n)], dim=1)

    loops, probes = place(n_loops), place(n_probes)
    return Diagnostics(loops, solovev_flux(loops), probes, solovev_field(probes))


class FluxNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, rz):
        return self.net(rz).squeeze(-1)

    def with_field(self, rz):
        """psi and (B_R, B_Z) = (-dpsi/dZ, dpsi/dR) / R."""
        rz = rz.clone().requires_grad_(True)
        psi = self(rz)  # expect: place
        dpsi, = torch.autograd.grad(psi.sum(), rz, retain_graph=True)  # expect: place
        field = torch.stack([-dpsi[:, 1], dpsi[:, 0]], dim=1) / rz[:, :1].detach()
        return psi, field


def reconstruct(d, steps=25, w_field=0.2, w_offset=0.05):
    net = FluxNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for k in range(steps):
        fit_flux = (net(d.loops) - d.flux).square().mean()
        psi, field = net.with_field(d.probes)
        fit_field = (field - d.field).square().mean()
        # the flux is only known up to drift of the integrators: keep its mean small
        offset = psi.mean().square()
        total = fit_flux + w_field * fit_field + w_offset * offset  # expect: place
        opt.zero_grad()
        total.backward()  # expect: place
        opt.step()
        if k % 8 == 0:
            print(f"{k:3d} flux {fit_flux.item():.4f} field {fit_field.item():.4f}")
    return net


if __name__ == "__main__":
    torch.manual_seed(3)
    shot = discharge()
    net = reconstruct(shot)
    with torch.no_grad():
        axis = net(torch.tensor([[1.0, 0.0]]))
    print("flux on the axis:", axis.item())
