# expect: pattern = lbfgs-closure
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = residuals
# Fit of a two compartment model (plasma / tissue) to concentrations after a bolus
import numpy as np
import torch

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

dose = 100.0
t_obs = torch.tensor([0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0])
dt = 0.05


def rates(c, theta):
    k10, k12, k21, V = theta.exp()
    plasma, tissue = c
    return torch.stack([-(k10 + k12) * plasma + k21 * tissue, k12 * plasma - k21 * tissue])


def simulate(theta):
    """amount over time with RK4, concentration at the times of the samples"""
    V = theta[3].exp()
    c = torch.stack([torch.tensor(dose), torch.tensor(0.0)])
    out = []
    wanted = [round(float(t) / dt) for t in t_obs]
    for i in range(1, wanted[-1] + 1):
        k1 = rates(c, theta)
        k2 = rates(c + 0.5 * dt * k1, theta)
        k3 = rates(c + 0.5 * dt * k2, theta)
        k4 = rates(c + dt * k3, theta)
        c = c + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if i in wanted:
            out.append(c[0] / V)
    return torch.stack(out)


def weighted(model, data):
    return (model.log() - data.log()) / 0.1


# "measurements": the same model at the true values, 10 % noise
theta_true = torch.tensor(np.log([0.35, 0.9, 0.6, 12.0]))
measured = simulate(theta_true) * torch.exp(0.1 * torch.randn(len(t_obs)))

theta0 = torch.tensor(np.log([0.2, 0.5, 0.5, 20.0]))
prior_sd = torch.tensor([0.7, 0.7, 0.7, 0.5])
theta = theta0.clone().requires_grad_()

optimizer = torch.optim.LBFGS([theta], lr=1.0, max_iter=8, line_search_fn="strong_wolfe")

for it in range(3):
    residuals = weighted(simulate(theta), measured)  # expect: place

    def closure():
        optimizer.zero_grad()
        fit = residuals.pow(2).sum()  # expect: place
        prior = ((theta - theta0) / prior_sd).pow(2).sum()
        loss = 0.5 * (fit + prior)
        loss.backward()  # expect: place
        return loss

    loss = optimizer.step(closure)  # expect: place
    print(it, float(loss), residuals.detach().abs().max().item())

names = ["k10", "k12", "k21", "V"]
for n, est, true in zip(names, theta.detach().exp(), theta_true.exp()):
    print(f"{n:4s} {est:.3f}  (true {true:.3f})")
