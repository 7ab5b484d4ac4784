"""Faults in cloth, line by line, with a memory of each loom that lasts as long as its roll."""
import torch
import torch.nn.functional as F

from cloth import Shed
from fastweights import Inspector

CFG = dict(looms=6, pixels=12, lines=9, lengths=14, lr=4e-3, clip=1.0)


def scores(logits, fault):
    hit = ((logits > 0) == fault.bool()).float().mean()
    return {"hit": hit.item(), "called": (logits > 0).float().mean().item()}


def main(cfg):
    torch.manual_seed(0)
    shed = Shed(cfg["looms"], cfg["pixels"])
    model = Inspector(cfg["pixels"])
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    weight = torch.tensor(3.0)
    state = model.fresh(cfg["looms"])
    for number, (cloth, fault, changed) in enumerate(shed.lengths(cfg["lengths"], cfg["lines"])):
        state = model.fresh(cfg["looms"]).new_rolls(changed)
        logits, state = model(cloth, state)
        loss = F.binary_cross_entropy_with_logits(logits, fault, pos_weight=weight)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
        opt.step()
        row = scores(logits.detach(), fault)
        print(f"{number:3d} lines {state.lines:4d} loss {loss.item():.4f} "
              f"hit {row['hit']:.2f} called {row['called']:.2f}")


if __name__ == "__main__":
    main(CFG)
