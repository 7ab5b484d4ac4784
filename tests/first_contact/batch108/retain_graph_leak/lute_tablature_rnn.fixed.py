"""Char-RNN on lute tablature, everything by hand (after the well-known minimal example)."""
import random

import torch

torch.manual_seed(5)
random.seed(5)

# data I/O: courses are written as letters of the fret, bars as |
RISING = "a c d f a c | d f h f d c | "
FALLING = "h f d c a | f d c a a | "
piece = "".join(random.choice([RISING, FALLING]) for _ in range(12))
chars = sorted(set(piece))
ix = {c: i for i, c in enumerate(chars)}
vocab = len(chars)

# hyperparameters
hidden = 32
seq_length = 12
lr = 0.05
clip = 5.0


def init(*shape):
    return (0.1 * torch.randn(*shape)).requires_grad_(True)


Wxh, Whh, Why = init(hidden, vocab), init(hidden, hidden), init(vocab, hidden)
bh = torch.zeros(hidden, 1, requires_grad=True)
by = torch.zeros(vocab, 1, requires_grad=True)
params = [Wxh, Whh, Why, bh, by]
mem = [torch.zeros_like(p) for p in params]  # of Adagrad


def one_hot(i):
    v = torch.zeros(vocab, 1)
    v[i] = 1.0
    return v


def loss_fun(inputs, targets, hprev):
    h = hprev
    loss = 0.0
    for i, t in zip(inputs, targets):
        h = torch.tanh(Wxh @ one_hot(i) + Whh @ h + bh)
        y = Why @ h + by
        loss = loss - torch.log_softmax(y, 0)[t, 0]
    return loss, h


def sample(h, seed_ix, n):
    out = [seed_ix]
    with torch.no_grad():
        for _ in range(n):
            h = torch.tanh(Wxh @ one_hot(out[-1]) + Whh @ h + bh)
            p = torch.softmax(Why @ h + by, 0).view(-1)
            out.append(int(torch.multinomial(p, 1)))
    return "".join(chars[i] for i in out)


def adagrad():
    for p, m in zip(params, mem):
        g = p.grad.data.clamp(-clip, clip)
        m += g * g
        p.data -= lr * g / torch.sqrt(m + 1e-8)
        p.grad.data.zero_()


smooth_loss = -torch.log(torch.tensor(1.0 / vocab)).item() * seq_length
n, p = 0, 0
h = torch.zeros(hidden, 1)
while n < 48:
    if p + seq_length + 1 >= len(piece):
        h = torch.zeros(hidden, 1)  # back to the first bar
        p = 0
    inputs = [ix[c] for c in piece[p:p + seq_length]]
    targets = [ix[c] for c in piece[p + 1:p + seq_length + 1]]

    loss, h = loss_fun(inputs, targets, h.detach())
    loss.backward()
    adagrad()

    smooth_loss = smooth_loss * 0.9 + loss.item() * 0.1
    if n % 12 == 0:
        print("iter %d, loss %.3f: %s" % (n, smooth_loss, sample(h, inputs[0], 30)))
    p += seq_length
    n += 1
