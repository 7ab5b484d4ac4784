from dataclasses import dataclass

import torch
from torch.distributions import Categorical

N_CARDS = 3
N_FEATURES = N_CARDS + 2


@dataclass
class Hands:
    logp: torch.Tensor
    entropy: torch.Tensor
    value: torch.Tensor
    payoff: torch.Tensor
    edge: torch.Tensor


def deal(n):
    order = torch.stack([torch.randperm(N_CARDS) for _ in range(n)])
    return order[:, 0], order[:, 1]


def infosets(cards, seat):
    x = torch.zeros(len(cards), N_FEATURES)
    x[torch.arange(len(cards)), cards] = 1.0
    x[torch.arange(len(cards)), N_CARDS + seat] = 1.0
    return x


def settle(mine, theirs, bet):
    # the house calls with a king always and with a queen half of the time
    calls = (theirs == 2) | ((theirs == 1) & (torch.rand(len(theirs)) < 0.5))
    sign = torch.where(mine > theirs, 1.0, -1.0)
    return torch.where(bet, torch.where(calls, 2.0 * sign, torch.ones(len(mine))), sign)


def play(bettor, critic, n):
    mine, theirs = deal(n)
    seat = torch.randint(0, 2, (n,))
    x = infosets(mine, seat)
    policy = Categorical(logits=bettor(x))
    action = policy.sample()
    payoff = settle(mine, theirs, action == 1)
    value = critic(x)  # expect: place
    return Hands(
        logp=policy.log_prob(action),
        entropy=policy.entropy(),
        value=value,
        payoff=payoff,
        edge=payoff - value,  # expect: place
    )
