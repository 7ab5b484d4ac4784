# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = stack
"""A controller with a soft stack learns which bracket may come next in nested chemical formulas."""
import argparse
import random

import torch
import torch.nn as nn

OPEN, CLOSE, BLANK = "([{", ")]}", "."
VOCAB = {c: i for i, c in enumerate(OPEN + CLOSE + BLANK)}


class StackRNN(nn.Module):
    def __init__(self, n_vocab, hidden, stack_width, stack_depth):
        super().__init__()
        self.hidden, self.width, self.depth = hidden, stack_width, stack_depth
        self.embed = nn.Embedding(n_vocab, hidden)
        self.cell = nn.GRUCell(hidden + stack_width, hidden)
        self.action = nn.Linear(hidden, 3)
        self.value = nn.Linear(hidden, stack_width)
        self.out = nn.Linear(hidden + stack_width, n_vocab)

    def stack_step(self, stack, h):
        push, pop, hold = self.action(h).softmax(-1).unsqueeze(-1).unbind(1)
        top = torch.sigmoid(self.value(h))
        below = torch.cat([stack[:, 1:], torch.zeros_like(stack[:, :1])], dim=1)
        above = torch.cat([top.unsqueeze(1), stack[:, :-1]], dim=1)
        stack[:] = (push.unsqueeze(1) * above + pop.unsqueeze(1) * below  # expect: place
                    + hold.unsqueeze(1) * stack)  # expect: place
        return stack

    def forward(self, seq):
        batch, length = seq.shape
        h = seq.new_zeros(batch, self.hidden, dtype=torch.float)
        stack = h.new_zeros(batch, self.depth, self.width)  # expect: place
        logits = []
        for t in range(length):
            h = self.cell(torch.cat([self.embed(seq[:, t]), stack[:, 0]], -1), h)
            stack = self.stack_step(stack, h)  # expect: place
            logits.append(self.out(torch.cat([h, stack[:, 0]], -1)))
        return torch.stack(logits, 1)


def formula(length, rng):
    text, pending = "", []
    while len(text) + len(pending) < length:
        if pending and rng.random() < 0.4:
            text += pending.pop()
        elif len(text) + len(pending) + 2 <= length:
            kind = rng.randrange(3)
            text += OPEN[kind]
            pending.append(CLOSE[kind])
        else:
            text += BLANK
    return text + "".join(reversed(pending))


def batch_of(n, length, rng):
    return torch.tensor([[VOCAB[c] for c in formula(length, rng)] for _ in range(n)])


def main(args):
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    net = StackRNN(len(VOCAB), 16, 4, 6)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for step in range(args.steps):
        seq = batch_of(12, args.length, rng)
        logits = net(seq[:, :-1])
        loss = criterion(logits.transpose(1, 2), seq[:, 1:])
        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        optimizer.step()
        print(step, round(loss.item(), 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--length", type=int, default=14)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=21)
    main(parser.parse_args())
