"""Calls at an old switchboard: who is plugged to which line, and later questions about it."""
import torch

NAMES, LINES = 6, 4
PLUG, ASK = 0, 1


def shift(length, gen):
    """One operator's shift: tokens (length, kind + name + line) and answers (-1: none is due)."""
    tokens = torch.zeros(length, 2 + NAMES + LINES)
    answers = torch.full((length,), -1, dtype=torch.long)
    plugged = {}
    for t in range(length):
        name = int(torch.randint(NAMES, (), generator=gen))
        tokens[t, 2 + name] = 1.0
        if name in plugged and float(torch.rand((), generator=gen)) < 0.5:
            tokens[t, ASK] = 1.0
            answers[t] = plugged[name]
        else:
            line = int(torch.randint(LINES, (), generator=gen))
            plugged[name] = line
            tokens[t, PLUG] = 1.0
            tokens[t, 2 + NAMES + line] = 1.0
    return tokens, answers


def shifts(n, length, seed):
    gen = torch.Generator().manual_seed(seed)
    both = [shift(length, gen) for _ in range(n)]
    return torch.stack([x for x, _ in both]), torch.stack([y for _, y in both])
