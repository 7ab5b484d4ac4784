# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantage, values
"""REINFORCE with a value baseline on king-and-rook endings (toy encoder, no real rules)."""
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

Ply = namedtuple("Ply", "board log_prob reward")


class AfterstateScorer(nn.Module):
    """Scores each board that a legal move would lead to."""

    def __init__(self, planes=3 * 64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(planes, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, boards):
        return self.body(boards).squeeze(-1)


class Evaluator(nn.Module):
    def __init__(self, planes=3 * 64):
        super().__init__()
        self.fc1 = nn.Linear(planes, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, boards):
        return torch.tanh(self.fc2(torch.relu(self.fc1(boards)))).squeeze(-1)


class Endgame:
    """White king, white rook, black king; a ply moves one of the white pieces."""

    def __init__(self):
        self.squares = torch.randint(0, 64, (3,))

    def encode(self, squares):
        return F.one_hot(squares, 64).float().flatten()

    def afterstates(self):
        options = []
        for piece in (0, 1):
            for step in (-8, -1, 1, 8):
                nxt = self.squares.clone()
                nxt[piece] = (nxt[piece] + step) % 64
                options.append(nxt)
        return options

    def push(self, squares):
        self.squares = squares.clone()
        self.squares[2] = (self.squares[2] + int(torch.randint(-1, 2, (1,)))) % 64
        gap = (self.squares[0] // 8 - self.squares[2] // 8).abs()
        return 1.0 if gap <= 1 else -0.05


def play(policy, plies=12):
    game, record = Endgame(), []
    for _ in range(plies):
        nxt = game.afterstates()
        scores = policy(torch.stack([game.encode(s) for s in nxt]))
        dist = torch.distributions.Categorical(logits=scores)
        choice = dist.sample()
        board = game.encode(game.squares)
        reward = game.push(nxt[int(choice)])
        record.append(Ply(board, dist.log_prob(choice), reward))
    return record


def discounted(rewards, gamma=0.95):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + gamma * acc
        out.append(acc)
    return torch.tensor(out[::-1])


class Trainer:
    def __init__(self):
        self.policy, self.critic = AfterstateScorer(), Evaluator()
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=5e-3)

    def learn(self, games):
        plies = [p for g in games for p in g]
        returns = torch.cat([discounted([p.reward for p in g]) for g in games])
        log_probs = torch.stack([p.log_prob for p in plies])
        values = self.critic(torch.stack([p.board for p in plies]))  # expect: place
        advantage = returns - values  # expect: place
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)  # expect: place

        self.policy_opt.zero_grad()
        self.critic_opt.zero_grad()
        policy_loss = -(log_probs * advantage).mean()  # expect: place
        policy_loss.backward()  # expect: place
        critic_loss = F.smooth_l1_loss(values, returns)
        critic_loss.backward()  # expect: place
        self.policy_opt.step()
        self.critic_opt.step()
        return policy_loss.item(), critic_loss.item()


if __name__ == "__main__":
    trainer = Trainer()
    for it in range(5):
        pl, cl = trainer.learn([play(trainer.policy) for _ in range(4)])
        print(f"iter {it} policy {pl:+.3f} critic {cl:.3f}")
