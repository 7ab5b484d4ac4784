


# Item response theory (2PL) on a small exam, fitted by plain gradient ascent on the
# penalised likelihood - homework 3, psychometrics
import numpy as np
import torch

# ---- 1. simulate an exam -------------------------------------------------------------
rng = np.random.default_rng(2)
n_students, n_items = 120, 15
true_theta = rng.normal(size=n_students)
true_b = np.linspace(-1.5, 1.5, n_items)
true_a = rng.uniform(0.7, 1.8, size=n_items)
prob = 1 / (1 + np.exp(-true_a * (true_theta[:, None] - true_b)))
answers = torch.tensor((rng.uniform(size=prob.shape) < prob).astype("float32"))
seen = torch.tensor((rng.uniform(size=prob.shape) < 0.9).astype("float32"))


# ---- 2. the model --------------------------------------------------------------------
def init_params():
    torch.manual_seed(2)
    return {
        "theta": (0.1 * torch.randn(n_students)).requires_grad_(),
        "a": torch.zeros(n_items, requires_grad=True),  # log discrimination
        "b": torch.zeros(n_items, requires_grad=True),
    }


def log_likelihood(params):
    a = torch.exp(params["a"])
    logit = a * (params["theta"][:, None] - params["b"])
    ll = answers * torch.nn.functional.logsigmoid(logit)
    ll = ll + (1 - answers) * torch.nn.functional.logsigmoid(-logit)
    return (seen * ll).sum()


def log_prior(params):
    out = -0.5 * (params["theta"] ** 2).sum()
    out = out - 0.5 * ((params["a"] / 0.3) ** 2).sum()
    return out - 0.5 * ((params["b"] / 2.0) ** 2).sum()


# ---- 3. gradient ascent --------------------------------------------------------------
rates = {"theta": 0.05, "a": 0.004, "b": 0.01}
params = init_params()
history = []

for it in range(40):
    objective = log_likelihood(params) + log_prior(params)
    objective.backward()
    with torch.no_grad():
        for name, rate in rates.items():
            params[name] += rate * params[name].grad
    history.append(objective.item())
    if it % 10 == 0:
        print(it, "log posterior", round(history[-1], 2))

# ---- 4. how good is it? --------------------------------------------------------------
theta_hat = params["theta"].detach().numpy()
b_hat = params["b"].detach().numpy()
print("corr(theta)", np.corrcoef(theta_hat, true_theta)[0, 1].round(3))
print("corr(b)    ", np.corrcoef(b_hat, true_b)[0, 1].round(3))
