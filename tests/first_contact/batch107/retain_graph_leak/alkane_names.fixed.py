# -*- coding: utf-8 -*-
"""
Character RNN for names of branched alkanes, after min-char-rnn (adagrad and all),
moved from numpy to torch so that I need not write the backward pass.
"""
from __future__ import print_function

import random

import torch
from torch.autograd import Variable

STEMS = ['meth', 'eth', 'prop', 'but', 'pent', 'hex', 'hept', 'oct', 'non', 'dec']
MULT = {2: 'di', 3: 'tri'}


def make_name(rnd):
    n = rnd.randint(4, 9)
    k = rnd.randint(1, 3)
    places = sorted(rnd.randint(2, n) for _ in range(k))
    side = STEMS[rnd.randint(0, 1)] + 'yl'
    return '%s-%s%s%sane' % (','.join(map(str, places)), MULT.get(k, ''), side, STEMS[n])


rnd = random.Random(5)
data = '\n'.join(make_name(rnd) for _ in range(14))
chars = sorted(set(data))
vocab_size = len(chars)
char_to_ix = {ch: i for i, ch in enumerate(chars)}
ix_to_char = {i: ch for i, ch in enumerate(chars)}
print('data has %d characters, %d unique.' % (len(data), vocab_size))

# hyperparameters
hidden_size = 40
seq_length = 12
learning_rate = 0.05
clip = 3.0

torch.manual_seed(5)


def weight(*size):
    return Variable(torch.randn(*size) * 0.05, requires_grad=True)


Wxh = weight(vocab_size, hidden_size)
Whh = weight(hidden_size, hidden_size)
Why = weight(hidden_size, vocab_size)
bh = Variable(torch.zeros(hidden_size), requires_grad=True)
by = Variable(torch.zeros(vocab_size), requires_grad=True)
params = [Wxh, Whh, Why, bh, by]
mem = [torch.zeros(p.size()) for p in params]


def step(ix, h):
    return torch.tanh(Wxh[ix] + Whh.t().mv(h) + bh)


def loss_fun(inputs, targets, hprev):
    """Cross-entropy of one piece of text, and the state behind it."""
    loss, h = 0, hprev
    for ix, t in zip(inputs, targets):
        h = step(ix, h)
        logp = torch.log_softmax(h.matmul(Why) + by, 0)
        loss = loss - logp[t]
    return loss / len(inputs), h.detach()


def sample(h, seed_ix, n):
    out, ix = [], seed_ix
    with torch.no_grad():
        for _ in range(n):
            h = step(ix, h)
            p = torch.softmax(h.matmul(Why) + by, 0)
            ix = torch.multinomial(p, 1).item()
            out.append(ix_to_char[ix])
    return ''.join(out)


def adagrad():
    for p, m in zip(params, mem):
        g = p.grad.data.clamp_(-clip, clip)
        m.add_(g * g)
        p.data.add_(-learning_rate * g / (m + 1e-8).sqrt())
        p.grad.data.zero_()


n, pos = 0, 0
smooth_loss = None
hprev = None
while n < 120:
    # sweep from left to right, start anew when the text is used up
    if hprev is None or pos + seq_length + 1 >= len(data):
        hprev = Variable(torch.zeros(hidden_size))
        pos = 0
    inputs = [char_to_ix[ch] for ch in data[pos:pos + seq_length]]
    targets = [char_to_ix[ch] for ch in data[pos + 1:pos + seq_length + 1]]
    loss, hprev = loss_fun(inputs, targets, hprev)
    loss.backward()
    adagrad()
    value = loss.item()
    smooth_loss = value if smooth_loss is None else 0.95 * smooth_loss + 0.05 * value
    pos += seq_length
    n += 1
    if n % 30 == 0:
        print('iter %d, loss %.4f' % (n, smooth_loss))
        print(' | '.join(sample(hprev, inputs[0], 60).split('\n')))
