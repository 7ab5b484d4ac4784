"""REINFORCE for the stops of bus line 14, with a running baseline."""
import torch

from controller import StopController
from town import Line, brute_force

BLOCKS, STOPS, PLANS = 16, 4, 32


class Baseline:
    def __init__(self, keep=0.9):
        self.keep, self.value = keep, None

    def update(self, worth):
        mean = worth.mean().item()
        self.value = mean if self.value is None else self.keep * self.value + (1 - self.keep) * mean
        return self.value


def entropy_weight(step, steps, first=0.03, last=0.002):
    return first + (last - first) * step / max(1, steps - 1)


def run(line, controller, optimizer, steps):
    baseline = Baseline()
    best = (float("-inf"), None)
    for step in range(steps):
        plans = controller.sample(PLANS)
        worth = line.worth(plans.stops)
        advantage = worth - baseline.update(worth)
        advantage = advantage / (advantage.std() + 1e-3)

        bonus = entropy_weight(step, steps) * plans.entropy.mean()
        loss = -(advantage * plans.log_prob).mean() - bonus
        optimizer.zero_grad()
        loss.requires_grad_()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(controller.parameters(), 2.0)
        optimizer.step()

        top = worth.argmax()
        if worth[top] > best[0]:
            best = (worth[top].item(), plans.stops[top].tolist())
        if step % 10 == 9:
            print(f"{step + 1:3d} worth {worth.mean():.3f} best {best[0]:.3f} grad {norm:.2f} "
                  f"entropy {plans.entropy.mean():.2f}")
    return best


def main():
    torch.manual_seed(14)
    line = Line(BLOCKS, seed=14)
    controller = StopController(BLOCKS, STOPS)
    optimizer = torch.optim.Adam(controller.parameters(), lr=2e-2)
    worth, stops = run(line, controller, optimizer, steps=50)
    yardstick = brute_force(line, STOPS, 500, torch.Generator().manual_seed(1))
    greedy = controller.greedy()
    print(f"best {worth:.3f} at {sorted(stops)}, greedy {line.worth(greedy).item():.3f} at "
          f"{sorted(greedy[0].tolist())}, random search {yardstick:.3f}")


if __name__ == "__main__":
    main()
