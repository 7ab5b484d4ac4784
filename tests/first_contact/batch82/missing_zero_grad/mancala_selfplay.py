# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = value_opt, self.value_opt, value
"""A small mancala that learns by playing against itself: a policy, a value, an optimizer each."""
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

PITS = 4
Move = namedtuple("Move", "board pit player")


class Board:
    def __init__(self, seeds=2):
        self.pits = [[seeds] * PITS, [seeds] * PITS]
        self.store = [0, 0]
        self.turn = 0

    def observed(self):
        mine, theirs = self.pits[self.turn], self.pits[1 - self.turn]
        lead = self.store[self.turn] - self.store[1 - self.turn]
        return torch.tensor([*mine, *theirs, lead], dtype=torch.float32) / 4

    def legal(self):
        return torch.tensor([n > 0 for n in self.pits[self.turn]])

    def sow(self, pit):
        side, at = self.turn, pit
        hand, self.pits[side][pit] = self.pits[side][pit], 0
        while hand:
            at += 1
            hand -= 1
            if at == PITS:
                if side == self.turn:
                    self.store[side] += 1
                else:
                    hand += 1
                side, at = 1 - side, -1
            else:
                self.pits[side][at] += 1
        self.turn = 1 - self.turn

    def over(self):
        return not any(self.pits[self.turn])

    def lead(self):
        return self.store[0] + sum(self.pits[0]) - self.store[1] - sum(self.pits[1])


def mlp(out):
    return nn.Sequential(nn.Linear(2 * PITS + 1, 24), nn.Tanh(), nn.Linear(24, out))


class Player:
    def __init__(self):
        self.policy, self.value = mlp(PITS), mlp(1)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.value_opt = torch.optim.SGD(self.value.parameters(), lr=1e-2)  # expect: place

    def logits(self, boards, legal=None):
        out = self.policy(boards)
        return out if legal is None else out.masked_fill(~legal, -1e9)

    @torch.no_grad()
    def choose(self, board):
        return torch.distributions.Categorical(logits=self.logits(board.observed(), board.legal())).sample().item()

    def learn(self, boards, pits, outcome):
        guess = self.value(boards).squeeze(-1)
        value_loss = F.mse_loss(guess, outcome)
        self.policy_opt.zero_grad()  # expect: place
        value_loss.backward()  # expect: place
        self.value_opt.step()  # expect: place

        gain = outcome - guess.detach()
        chosen = torch.log_softmax(self.logits(boards), -1).gather(1, pits[:, None]).squeeze(1)
        policy_loss = -(gain * chosen).mean()
        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()
        return value_loss.item(), policy_loss.item()


def play(player, longest=30):
    board, moves = Board(), []
    while not board.over() and len(moves) < longest:
        pit = player.choose(board)
        moves.append(Move(board.observed(), pit, board.turn))
        board.sow(pit)
    sign = torch.tensor([1.0 if m.player == 0 else -1.0 for m in moves])
    return torch.stack([m.board for m in moves]), torch.tensor([m.pit for m in moves]), sign * board.lead() / 4


if __name__ == "__main__":
    torch.manual_seed(29)
    player = Player()
    for game in range(20):
        losses = player.learn(*play(player))
        if game % 5 == 0:
            print(game, *(round(v, 3) for v in losses))
