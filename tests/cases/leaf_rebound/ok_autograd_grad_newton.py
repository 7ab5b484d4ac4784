# expect: pattern = none
# expect: raises = nothing
import torch


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 20 * (p[1] - p[0] ** 2) ** 2


p = torch.tensor([-0.5, 0.8])
for k in range(6):
    p = p.clone().requires_grad_(True)
    value = rosenbrock(p)
    (grad,) = torch.autograd.grad(value, p, create_graph=True)
    hessian = torch.stack([torch.autograd.grad(g, p, retain_graph=True)[0] for g in grad])
    p = p.detach() - torch.linalg.solve(hessian, grad.detach())
    print(k, value.item(), p.tolist())
