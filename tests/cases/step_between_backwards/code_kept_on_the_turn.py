# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = code, turn, loss
"""Who types? Keystroke rhythms are encoded so that the typist shows and the keyboard does not."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
encoder = nn.Sequential(nn.Linear(9, 16), nn.Tanh(), nn.Linear(16, 6))
typist, keyboard = nn.Linear(6, 5), nn.Linear(6, 2)
learning = torch.optim.SGD([*encoder.parameters(), *typist.parameters()], lr=0.1)
guessing = torch.optim.SGD(keyboard.parameters(), lr=0.1)


class Turn:
    """One session at a keyboard, and what was computed from it."""


def descend(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    return round(loss.item(), 3)


def tell_typists(turn):
    return descend(learning, F.cross_entropy(typist(encoder(turn.rhythm)), turn.who))


def hide_keyboards(turn):
    guess = keyboard(turn.code).log_softmax(1)  # expect: place
    return descend(learning, guess.mean().neg())  # expect: place


def find_keyboards(turn):
    return descend(guessing, F.cross_entropy(keyboard(encoder(turn.rhythm).detach()), turn.where))


def session():
    who, where = torch.randint(5, (24,)), torch.randint(2, (24,))
    rhythm = torch.randn(24, 9) + who[:, None] * 0.3 - where[:, None]
    return rhythm, who, where


for day in range(6):
    rhythm, who, where = session()
    turn = Turn()
    turn.who, turn.where = who, where
    turn.rhythm = rhythm
    turn.code = encoder(rhythm)  # expect: place
    print(day, *[phase(turn) for phase in (tell_typists, hide_keyboards, find_keyboards)])
