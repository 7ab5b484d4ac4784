"""Train the reader of the letter sorting line: one trunk, three things to tell from it."""

import torch

from mail import Pile, piles
from tasks import Task, all_tasks
from trunk import Trunk


def run_pile(
    trunk: Trunk, tasks: list[Task], optimizer: torch.optim.Optimizer, pile: Pile
) -> list[float]:
    optimizers = [optimizer, *(task.optimizer for task in tasks)]
    for each in optimizers:
        each.zero_grad()
    losses = [task.loss(trunk, pile) for task in tasks]
    torch.stack(losses).sum().backward()
    for each in optimizers:
        each.step()
    return [loss.item() for loss in losses]


def main() -> None:
    torch.manual_seed(3)
    stack = piles(count=4, size=32, seed=8)
    trunk, tasks = Trunk(), all_tasks()
    optimizer = torch.optim.Adam(trunk.parameters(), lr=2e-3)
    for epoch in range(4):
        totals = torch.zeros(len(tasks))
        for pile in stack:
            totals += torch.tensor(run_pile(trunk, tasks, optimizer, pile))
        means = (totals / len(stack)).tolist()
        told = "  ".join(f"{t.name} {m:.3f}" for t, m in zip(tasks, means, strict=True))
        print(f"epoch {epoch}  {told}")


if __name__ == "__main__":
    main()
