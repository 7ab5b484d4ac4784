# expect: pattern = stored-graph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = answers, answer, out, logits, then, memory
"""Dark experience replay (DER++) for tool wear: do not forget aluminium while steel is learnt."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

from machine_sound import BANDS, STATES, Shop
from reservoir import Reservoir

MATERIALS = ("aluminium", "steel", "titanium")


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--room", type=int, default=60)
    p.add_argument("--batch", type=int, default=20)
    p.add_argument("--alpha", type=float, default=0.3, help="weight of the old answers")
    p.add_argument("--beta", type=float, default=0.5, help="weight of the old labels")
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--per-month", type=int, default=600)
    return p.parse_args([])


def observe(net, optimizer, memory, cuts, labels, opt):
    """One batch of the stream, seen once."""
    out = net(cuts)  # expect: place
    loss = F.cross_entropy(out, labels)
    if len(memory):
        old, then, truth = memory.draw(opt.batch)  # expect: place
        now = net(old)
        loss = loss + opt.alpha * F.mse_loss(now, then)  # expect: place
        old, _, truth = memory.draw(opt.batch)
        loss = loss + opt.beta * F.cross_entropy(net(old), truth)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    memory.offer(cuts, out, labels)  # expect: place
    return loss.item()


@torch.no_grad()
def accuracies(net, exams):
    return {m: round((net(x).argmax(1) == y).float().mean().item(), 2) for m, (x, y) in exams.items()}


def main():
    opt = options()
    torch.manual_seed(64)
    shop = Shop(MATERIALS, seed=64)
    exams = {m: shop.month(m, 200) for m in MATERIALS}
    net = nn.Sequential(nn.Linear(BANDS, 48), nn.ReLU(), nn.Linear(48, len(STATES)))
    optimizer = torch.optim.SGD(net.parameters(), lr=opt.lr)
    memory = Reservoir(opt.room, seed=64)
    for material in MATERIALS:
        cuts, labels = shop.month(material, opt.per_month)
        losses = [observe(net, optimizer, memory, c, l, opt)
                  for c, l in zip(cuts.split(opt.batch), labels.split(opt.batch))]
        print(f"{material:10s} loss {sum(losses[-5:]) / 5:.3f}", accuracies(net, exams), memory.census())


if __name__ == "__main__":
    main()
