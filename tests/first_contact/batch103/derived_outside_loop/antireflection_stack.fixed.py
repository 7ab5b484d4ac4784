"""Design of an antireflection coating by gradient descent through the characteristic matrices.

Macleod's notation: phase thickness delta, admittance eta, one 2 x 2 matrix a layer.
"""
import math
from types import SimpleNamespace

import torch

torch.set_default_dtype(torch.float64)

INDEX = {"MgF2": 1.38, "SiO2": 1.46, "Al2O3": 1.67, "TiO2": 2.35}
GLASS, AIR = 1.52, 1.0


def design(order, low=10.0, high=220.0, seed=0):
    """A coating with its layers from the air side, thicknesses between `low` and `high` nm."""
    g = torch.Generator().manual_seed(seed)
    raw = torch.randn(len(order), generator=g).requires_grad_()
    return SimpleNamespace(
        order=order,
        raw=raw,
        low=low,
        high=high,
        index=torch.tensor([INDEX[name] for name in order]),
    )


def thicknesses(stack):
    return stack.low + (stack.high - stack.low) * torch.sigmoid(stack.raw)


def layer(n, d, wavelength, cos_inside, polarisation):
    """M of one layer at every wavelength: (L, 2, 2)."""
    delta = 2 * math.pi * n * d * cos_inside / wavelength
    eta = n * cos_inside if polarisation == "s" else n / cos_inside
    c, s = torch.cos(delta) + 0j, 1j * torch.sin(delta)
    return torch.stack([torch.stack([c, s / eta], -1), torch.stack([s * eta, c], -1)], -2)


def cosine(n, angle):
    return math.sqrt(1 - (AIR * math.sin(angle) / n) ** 2)


def reflectance(index, d, wavelength, angle=0.0, polarisation="s"):
    total = torch.eye(2, dtype=torch.complex128).expand(len(wavelength), 2, 2)
    for n, thick in zip(index.tolist(), d):
        total = total @ layer(n, thick, wavelength, cosine(n, angle), polarisation)

    def admittance(n):
        c = cosine(n, angle)
        return n * c if polarisation == "s" else n / c

    exit_side = torch.tensor([1.0, admittance(GLASS)], dtype=torch.complex128)
    b, c = (total @ exit_side).unbind(-1)
    y0 = admittance(AIR)
    r = (y0 * b - c) / (y0 * b + c)
    return r.real**2 + r.imag**2


def merit(index, d, wavelength, angles):
    """Mean reflectance in per cent over band, angles and both polarisations; a soft worst on top."""
    curves = torch.stack([reflectance(index, d, wavelength, a, p) for a in angles for p in "sp"])
    worst = torch.logsumexp(200 * curves.flatten(), 0) / 200
    return 100 * (curves.mean() + 0.2 * worst), curves


def optimise(stack, wavelength, angles, steps=50, lr=0.08):
    optimizer = torch.optim.Adam([stack.raw], lr=lr)
    trail = []
    for step in range(steps):
        thickness = thicknesses(stack)
        value, curves = merit(stack.index, thickness, wavelength, angles)
        # total thickness costs coating time
        value = value + 2e-4 * thickness.sum()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        trail.append(value.item())
        if step % 10 == 0:
            print(f"  {step:3d} merit {value.item():.3f} mean R {100 * curves.mean().item():.2f} %")
    return trail


def show(stack):
    with torch.no_grad():
        d = thicknesses(stack)
    return " | ".join(f"{name} {nm:.0f}" for name, nm in zip(stack.order, d.tolist()))


def main():
    wavelength = torch.linspace(430, 670, 13)
    angles = [0.0, math.radians(25)]
    orders = [["MgF2", "TiO2", "Al2O3"], ["MgF2", "TiO2", "SiO2", "TiO2"]]
    results = []
    for number, order in enumerate(orders):
        stack = design(order, seed=number)
        print("start", show(stack))
        trail = optimise(stack, wavelength, angles)
        results.append((trail[-1], show(stack)))
    for merit_value, text in sorted(results):
        print(f"{merit_value:.3f}  {text}")


if __name__ == "__main__":
    main()
