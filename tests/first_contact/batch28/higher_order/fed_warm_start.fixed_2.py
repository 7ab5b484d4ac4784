# Federated personalisation of a blood-glucose regressor.  The server holds the start
# weights and one learnt step size a tensor; it takes a step on the public cohort,
# every clinic is then scored with the stepped weights.
import torch
import torch.nn.functional as F

torch.manual_seed(5)
N_CLINICS, ROUNDS, N_FEAT = 4, 6, 6


def init_theta():
    theta = {
        "w1": torch.randn(N_FEAT, 10) * 0.3,
        "b1": torch.zeros(10),
        "w2": torch.randn(10, 1) * 0.3,
        "b2": torch.zeros(1),
    }
    return {k: v.requires_grad_() for k, v in theta.items()}


def predict(theta, x):
    h = torch.tanh(x @ theta["w1"] + theta["b1"])
    return (h @ theta["w2"] + theta["b2"]).squeeze(-1)


def make_clinic(shift):
    w = torch.linspace(-1, 1, N_FEAT) + 0.4 * shift

    def draw(n):
        x = torch.randn(n, N_FEAT) + 0.2 * shift
        return x, torch.sin(x @ w) + 0.05 * torch.randn(n)

    return draw


public = make_clinic(torch.zeros(N_FEAT))
clinics = [make_clinic(torch.randn(N_FEAT)) for _ in range(N_CLINICS)]

theta = init_theta()
log_lr = {k: torch.tensor(-3.0, requires_grad=True) for k in theta}
outer = torch.optim.Adam([*theta.values(), *log_lr.values()], lr=5e-3)

for rnd in range(ROUNDS):
    xs, ys = public(32)

    outer.zero_grad()
    scores = []
    for draw in clinics:
        inner = F.mse_loss(predict(theta, xs), ys)
        grads = torch.autograd.grad(inner, list(theta.values()), create_graph=True)
        warm = {k: p - log_lr[k].exp() * g for (k, p), g in zip(theta.items(), grads)}
        xq, yq = draw(16)
        loss = F.mse_loss(predict(warm, xq), yq) / N_CLINICS
        loss.backward()
        scores.append(loss.item() * N_CLINICS)
    outer.step()
    print("round", rnd, " ".join("%.3f" % s for s in scores))
