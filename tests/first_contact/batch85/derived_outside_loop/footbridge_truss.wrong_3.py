"""Bar areas of a footbridge from deflections measured under test loads (plane truss, SI units)."""
import torch

torch.manual_seed(33)
torch.set_default_dtype(torch.float64)

E_STEEL = 210e9
PANELS = 4
HEIGHT = 1.5
SPAN = 2.0


def geometry():
    bottom = [(SPAN * i, 0.0) for i in range(PANELS + 1)]
    top = [(SPAN * (i + 0.5), HEIGHT) for i in range(PANELS)]
    nodes = torch.tensor(bottom + top)
    n = len(bottom)
    bars = [(i, i + 1) for i in range(PANELS)]
    bars += [(n + i, n + i + 1) for i in range(PANELS - 1)]
    bars += [pair for i in range(PANELS) for pair in ((i, n + i), (n + i, i + 1))]
    return nodes, torch.tensor(bars)


def bar_matrices(nodes, bars):
    """Per bar the 4x4 matrix of directions over its length, and the four numbers of its freedoms."""
    delta = nodes[bars[:, 1]] - nodes[bars[:, 0]]
    length = delta.norm(dim=1)
    c = delta / length[:, None]
    row = torch.cat([-c, c], dim=1)
    dofs = torch.stack([2 * bars[:, 0], 2 * bars[:, 0] + 1, 2 * bars[:, 1], 2 * bars[:, 1] + 1], dim=1)
    return row[:, :, None] * row[:, None, :] / length[:, None, None], dofs


def assemble(area, unit, dofs, n_dof):
    k_bar = E_STEEL * area[:, None, None] * unit
    flat = (dofs[:, :, None] * n_dof + dofs[:, None, :]).reshape(-1)
    return torch.zeros(n_dof * n_dof).index_add(0, flat, k_bar.reshape(-1)).view(n_dof, n_dof)


nodes, bars = geometry()
unit, dofs = bar_matrices(nodes, bars)
n_dof = 2 * len(nodes)
fixed = torch.tensor([0, 1, 2 * PANELS + 1])
free = torch.tensor([d for d in range(n_dof) if d not in fixed.tolist()])


def deflection(K, load):
    inner = K[free][:, free]
    return torch.linalg.solve(inner, load[free])


# the test: a water tank is moved from node to node, and the deck is levelled at every stop
true_area = 1e-3 * (0.8 + 0.8 * torch.rand(len(bars)))
loads, readings = [], []
K_true = assemble(true_area, unit, dofs, n_dof)
for stop in range(1, PANELS):
    for tank in (5e3, 10e3):
        load = torch.zeros(n_dof)
        load[2 * stop + 1] = -tank
        loads.append(load)
        readings.append(deflection(K_true, load) + 2e-6 * torch.randn(len(free)))

log_area = torch.full((len(bars),), 1e-3).log().requires_grad_()
optimizer = torch.optim.Adam([log_area], lr=0.03)

area = torch.exp(log_area)
K = assemble(area, unit, dofs, n_dof)
print(f"condition of K: {torch.linalg.cond(K.detach()[free][:, free]):.1f}")

for epoch in range(12):
    total = 0.0
    for i in torch.randperm(len(loads)).tolist():
        K = assemble(area, unit, dofs, n_dof)
        u = deflection(K, loads[i])
        misfit = 1e6 * (u - readings[i]).square().mean()
        prior = 0.01 * (log_area - log_area.mean()).square().mean()
        optimizer.zero_grad()
        (misfit + prior).backward()
        optimizer.step()
        total += misfit.item()
    if epoch % 3 == 0:
        print(f"{epoch:2d}  misfit {total / len(loads):.5f} mm2")

error = (log_area.detach().exp() / true_area - 1).abs()
print(f"areas off by {100 * error.mean():.1f} % on average, {100 * error.max():.1f} % at worst")
