"""Few-shot alarms for new welding procedures. Queries go through in pieces, the workshop's card has 2 GB."""
import torch
import torch.nn.functional as F

from learner import ArcNet
from procedures import Procedure

META_STEPS, TASKS, PIECE = 10, 3, 8


def outer_pass(net, support, query, scale):
    """Adds one procedure's meta-gradient to the .grad fields; returns loss and hits of its queries."""
    fast = net.adapt(support)
    x, y = query
    total, hits = 0.0, 0
    outer = 0.0
    for xs, ys in zip(x.split(PIECE), y.split(PIECE)):
        scores = net.classify(xs, fast)
        loss = F.cross_entropy(scores, ys, reduction="sum") / len(y)
        outer = outer + scale * loss
        total += loss.item()
        hits += (scores.argmax(-1) == ys).sum().item()
    outer.backward()
    return total, hits / len(y)


def meta_test(net, procedures, steps=3):
    hits = 0.0
    for procedure in procedures:
        support, (x, y) = procedure.episode()
        fast = net.adapt(support, steps)
        with torch.no_grad():
            hits += (net.classify(x, fast).argmax(-1) == y).float().mean().item()
    return hits / len(procedures)


def main():
    torch.manual_seed(83)
    net = ArcNet()
    unseen = [Procedure() for _ in range(6)]
    slow = [p for name, p in net.named_parameters() if name != "log_inner_lr"]
    optimizer = torch.optim.Adam([{"params": slow, "lr": 5e-3}, {"params": [net.log_inner_lr], "lr": 2e-2}])
    smooth = None
    for step in range(1, META_STEPS + 1):
        optimizer.zero_grad()
        losses, accuracies = [], []
        for _ in range(TASKS):
            support, query = Procedure().episode()
            loss, accuracy = outer_pass(net, support, query, 1.0 / TASKS)
            losses.append(loss)
            accuracies.append(accuracy)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 10.0)
        optimizer.step()
        now = sum(losses) / TASKS
        smooth = now if smooth is None else 0.8 * smooth + 0.2 * now
        if step % 5 == 0:
            print(f"{step:3d}  loss {smooth:.3f}  acc {sum(accuracies) / TASKS:.2f}  |g| {norm.item():.2f}  "
                  f"rate {net.log_inner_lr.exp().item():.3f}  unseen {meta_test(net, unseen):.2f}")


if __name__ == "__main__":
    main()
