# where does the speed of sound change? full waveform, 1-D, plain gradient descent, no optimizer
import torch

torch.manual_seed(12)
nx, nt, dx, dt = 60, 90, 10.0, 0.002
src, receivers = 3, list(range(5, 60, 6))


def ricker(f=18.0):
    t = torch.arange(nt) * dt - 0.06
    a = (torch.pi * f * t) ** 2
    return (1 - 2 * a) * torch.exp(-a)


def forward(v, wavelet):
    u_prev, u = torch.zeros(nx), torch.zeros(nx)
    inject = torch.zeros(nx)
    inject[src] = 1.0
    r = (v * dt / dx) ** 2
    out = []
    for it in range(nt):
        lap = torch.zeros(nx)
        lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u_next = 2 * u - u_prev + r * lap
        u_next += wavelet[it] * inject
        u_prev, u = u, u_next
        out.append(u[receivers])
    return torch.stack(out)


w = ricker()
v_true = torch.full((nx,), 2000.0)
v_true[30:42] = 2300.0
with torch.no_grad():
    observed = forward(v_true, w)

v = torch.full((nx,), 2000.0, requires_grad=True)
total = 0.0
for it in range(12):
    loss = ((forward(v, w) - observed) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        g = v.grad
        g[:6] = 0                      # mute around the source
        step = 4.0 / (g.abs().max() + 1e-12)
        v -= step * g
        v.clamp_(1500, 3000)
    v.grad.zero_()
    total += float(loss)
    if it % 3 == 0:
        print(it, float(loss), float((v - v_true).abs().mean()))
print("mean misfit", total / 12)
