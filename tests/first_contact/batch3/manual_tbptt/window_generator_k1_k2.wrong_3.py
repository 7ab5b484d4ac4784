"""Truncated BPTT with k1 < k2: every k1 steps a loss looks k2 steps back; one update a sequence."""
import torch
from torch import nn


class TBPTT:
    def __init__(self, step, loss_fn, optimizer, k1, k2):
        self.step, self.loss_fn, self.optimizer = step, loss_fn, optimizer
        self.k1, self.k2 = k1, k2

    def windows(self, sequence, state):
        """Yield (t, loss, states) where states are (entering leaf, leaving tensor) pairs."""
        states = [(None, state)]
        for t, (x, y) in enumerate(sequence, start=1):
            entering = states[-1][1].detach()
            entering.requires_grad_()
            out, leaving = self.step(x, entering)
            states.append((entering, leaving))
            del states[: -self.k2]
            yield t, self.loss_fn(out, y), states

    def train(self, sequence, state):
        history = []
        self.optimizer.zero_grad()
        for t, loss, states in self.windows(sequence, state):
            if t % self.k1:
                continue
            for entering, _ in states:
                if entering is not None:
                    entering.grad = None
            loss.backward()
            for k in range(1, len(states)):
                entering, leaving = states[-k][0], states[-k - 1][1]
                if entering is None or leaving.grad_fn is None:
                    break
                leaving.backward(entering.grad)
            history.append(loss.item())
        self.optimizer.step()
        return history


def delayed_echo(length, batch, delay=2):
    bits = torch.randint(0, 2, (length, batch, 1)).float()
    out = torch.cat([torch.zeros(delay, batch, 1), bits[:-delay]])
    return list(zip(bits, out))


def main():
    torch.manual_seed(77)
    cell = nn.RNNCell(1, 16)
    head = nn.Linear(16, 1)

    def step(x, h):
        h = cell(x, h)
        return head(h), h

    params = [*cell.parameters(), *head.parameters()]
    runner = TBPTT(step, nn.BCEWithLogitsLoss(), torch.optim.SGD(params, lr=0.2), k1=5, k2=5)
    for epoch in range(3):
        losses = runner.train(delayed_echo(20, 8), torch.zeros(8, 16))
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
