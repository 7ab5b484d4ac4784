# expect: pattern = lbfgs-closure
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = res, residual, refine.res
# Steady temperature of a cooling fin with unknown heat transfer coefficient (inverse PINN).
# Adam first, L-BFGS for the last digits.
import argparse

import torch

from fin import FinProblem
from net import FourierMLP


def adam_phase(problem, net, steps):
    opt = torch.optim.Adam([*net.parameters(), problem.log_m2], lr=5e-3)
    for it in range(steps):
        opt.zero_grad()
        loss = problem.total(net, problem.residual(net))
        loss.backward()
        opt.step()
        if it % 50 == 0:
            print(f"adam {it:4d} {loss.item():.3e} m2={problem.log_m2.exp().item():.3f}")


def refine(problem, net, max_iter):
    opt = torch.optim.LBFGS([*net.parameters(), problem.log_m2], max_iter=max_iter, history_size=20,
                            line_search_fn="strong_wolfe")
    history = []
    res = problem.residual(net)  # expect: place

    def closure():
        opt.zero_grad()
        loss = problem.total(net, res)  # expect: place
        loss.backward()  # expect: place
        history.append(loss.item())
        return loss

    opt.step(closure)  # expect: place
    print(f"lbfgs {len(history)} calls, {history[0]:.3e} -> {history[-1]:.3e} m2={problem.log_m2.exp().item():.3f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--adam", type=int, default=60)
    ap.add_argument("--lbfgs", type=int, default=25)
    args = ap.parse_args()
    torch.manual_seed(6)
    problem = FinProblem(n_collocation=40)
    net = FourierMLP(width=16)
    adam_phase(problem, net, args.adam)
    refine(problem, net, args.lbfgs)
