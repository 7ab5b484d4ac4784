# Attack / defence strengths from football scores (Poisson goals, home advantage).
# No nn.Module, I wanted to see what gradient descent does.
import torch

torch.manual_seed(1905)

teams = ["Arden", "Brook", "Colne", "Derwent", "Exe", "Forth"]
n = len(teams)

# pretend season: everybody plays everybody, home and away
true_att = torch.randn(n) * 0.3
true_def = torch.randn(n) * 0.3
home, away, hg, ag = [], [], [], []
for i in range(n):
    for j in range(n):
        if i == j:
            continue
        home.append(i)
        away.append(j)
        hg.append(torch.poisson(torch.exp(0.25 + true_att[i] - true_def[j])))
        ag.append(torch.poisson(torch.exp(true_att[j] - true_def[i])))
home = torch.tensor(home)
away = torch.tensor(away)
hg = torch.stack(hg)
ag = torch.stack(ag)

params = {
    "attack": torch.zeros(n, requires_grad=True),
    "defence": torch.zeros(n, requires_grad=True),
    "home_adv": torch.zeros(1, requires_grad=True),
    "base": torch.zeros(1, requires_grad=True),
}


def expected_goals(p):
    log_h = p["base"] + p["home_adv"] + p["attack"][home] - p["defence"][away]
    log_a = p["base"] + p["attack"][away] - p["defence"][home]
    return torch.exp(log_h), torch.exp(log_a)


def neg_log_lik(p):
    lam_h, lam_a = expected_goals(p)
    nll = lam_h - hg * torch.log(lam_h) + lam_a - ag * torch.log(lam_a)
    # keeps the average team at zero
    ridge = p["attack"].mean() ** 2 + p["defence"].mean() ** 2
    return nll.mean() + ridge


lr = 0.3
for it in range(40):
    for p in params.values():
        if p.grad is not None:
            p.grad.zero_()
    loss = neg_log_lik(params)
    loss.backward()
    for name in params:
        if params[name].grad is not None:
            params[name] = params[name] - lr * params[name].grad
    if it % 10 == 0:
        print(it, round(loss.item(), 4))

lam_h, lam_a = expected_goals(params)
print("mean goals home %.2f away %.2f" % (lam_h.mean().item(), lam_a.mean().item()))
order = torch.argsort(params["attack"], descending=True)
for k in order.tolist():
    print(f"{teams[k]:8s} attack {params['attack'][k].item():+.2f} defence {params['defence'][k].item():+.2f}")
