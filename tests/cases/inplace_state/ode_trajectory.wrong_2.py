"""Fit the rate constants of a predator-prey system by rolling out Euler steps."""
import torch

torch.manual_seed(6)
STEPS, DT = 25, 0.05


def field(state, theta):
    prey, pred = state[0], state[1]
    return torch.stack([theta[0] * prey - theta[1] * prey * pred, theta[2] * prey * pred - theta[3] * pred])


def rollout(x0, theta):
    traj = torch.empty(STEPS + 1, 2)
    traj[0] = x0
    for k in range(STEPS):
        traj.data[k + 1] = traj[k] + DT * field(traj[k], theta)
    return traj


true_theta = torch.tensor([1.1, 0.4, 0.1, 0.4])
with torch.no_grad():
    observed = rollout(torch.tensor([10.0, 5.0]), true_theta)

theta = torch.tensor([0.8, 0.3, 0.2, 0.5], requires_grad=True)
opt = torch.optim.Adam([theta], lr=0.02)
for it in range(10):
    opt.zero_grad()
    loss = (rollout(observed[0], theta) - observed).pow(2).mean()
    loss.backward()
    opt.step()
print("theta", [round(v, 3) for v in theta.tolist()])
