# expect: pattern = undetached-target
# expect: also = stored-graph, recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = ahead, value, surprise
"""TD(0) on a dice race (two pieces each, the rear one can be hit), learnt from self-play.

Semi-gradient TD as in the textbook: the estimate of a position moves towards that of its successor.
After every ply the network is trained once.
"""
import random

import torch
import torch.nn as nn

GOAL = 12
GAMMA = 1.0


class Race:
    def __init__(self):
        self.pieces = {0: [0, 0], 1: [0, 0]}
        self.turn = 0

    def moves(self, die):
        return [i for i, p in enumerate(self.pieces[self.turn]) if p < GOAL] or [0]

    def after(self, piece, die):
        board = Race()
        board.pieces = {k: list(v) for k, v in self.pieces.items()}
        mine, theirs = board.pieces[self.turn], board.pieces[1 - self.turn]
        mine[piece] = min(GOAL, mine[piece] + die)
        if mine[piece] < GOAL:
            for j, p in enumerate(theirs):
                if p == mine[piece]:
                    theirs[j] = 0  # hit: back to the start
        board.turn = 1 - self.turn
        return board

    def winner(self):
        for player, pieces in self.pieces.items():
            if min(pieces) == GOAL:
                return player
        return None


def features(board):
    """From the view of player 0: sorted pieces of both, scaled, and whose turn it is."""
    own, other = sorted(board.pieces[0]), sorted(board.pieces[1])
    lead = (sum(own) - sum(other)) / GOAL
    return torch.tensor([[*(p / GOAL for p in own + other), lead, float(board.turn)]])


class Judge(nn.Module):
    """Chance that player 0 wins."""

    def __init__(self, hidden=20):
        super().__init__()
        self.hidden = nn.Linear(6, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, board):
        return torch.sigmoid(self.out(torch.tanh(self.hidden(features(board))))).squeeze()


@torch.no_grad()
def choose(judge, board, die, epsilon):
    options = board.moves(die)
    if random.random() < epsilon:
        return random.choice(options)
    sign = 1 if board.turn == 0 else -1
    return max(options, key=lambda i: sign * judge(board.after(i, die)).item())


def learn_game(judge, optimizer, epsilon=0.1, longest=60):
    board = Race()
    value = judge(board)  # expect: place
    errors = []
    for _ in range(longest):
        die = random.randint(1, 6)
        board = board.after(choose(judge, board, die, epsilon), die)
        winner = board.winner()
        ahead = torch.tensor(float(winner == 0)) if winner is not None else judge(board)  # expect: place
        surprise = GAMMA * ahead - value  # expect: place
        loss = 0.5 * surprise ** 2
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        errors.append(abs(surprise.item()))
        if winner is not None:
            break
        value = ahead  # expect: place
    return sum(errors) / len(errors)


def match(judge, games=20):
    """Against a player who moves at random."""
    won = 0
    for _ in range(games):
        board = Race()
        while board.winner() is None:
            die = random.randint(1, 6)
            epsilon = 0.0 if board.turn == 0 else 1.0
            board = board.after(choose(judge, board, die, epsilon), die)
        won += board.winner() == 0
    return won / games


if __name__ == "__main__":
    random.seed(4)
    torch.manual_seed(4)
    judge = Judge()
    optimizer = torch.optim.SGD(judge.parameters(), lr=0.1)
    for game in range(1, 31):
        error = learn_game(judge, optimizer)
        if game % 10 == 0:
            print(f"game {game}: mean error {error:.3f}, wins {match(judge):.2f}")
