# expect: pattern = none
"""Two sides of a board game read one shared board encoder; each side's update is kept apart.

Both losses walk the encoder, each gradient is scaled to unit length, then everything steps.
"""
import torch
from torch import nn
from torch.nn import functional as F


class Table(nn.Module):
    def __init__(self, squares=16, width=24):
        super().__init__()
        self.board = nn.Sequential(nn.Linear(squares, width), nn.Tanh())
        self.attacker = nn.Linear(width, 4)
        self.defender = nn.Linear(width, 3)

    def forward(self, position):
        view = self.board(position)
        return self.attacker(view), self.defender(view)


def positions(n):
    board = torch.randint(-1, 2, (n, 16)).float()
    strike = board.view(n, 4, 4).sum(2).argmax(1)
    cover = board.view(n, 4, 4).sum(1)[:, :3].argmin(1)
    return board, strike, cover


def take(params):
    out = [p.grad.clone() for p in params]
    for p in params:
        p.grad.zero_()
    return out


def unit(grads):
    size = torch.sqrt(sum(g.pow(2).sum() for g in grads)).clamp_min(1e-8)
    return [g / size for g in grads]


def play(rounds=50):
    torch.manual_seed(91)
    table = Table()
    shared = list(table.board.parameters())
    shared_opt = torch.optim.SGD(shared, lr=0.2)
    side_opts = [torch.optim.Adam(table.attacker.parameters(), lr=0.02),
                 torch.optim.Adam(table.defender.parameters(), lr=0.02)]
    for r in range(rounds):
        board, strike, cover = positions(48)
        for opt in (shared_opt, *side_opts):
            opt.zero_grad()
        a, d = table(board)
        attack, defend = F.cross_entropy(a, strike), F.cross_entropy(d, cover)
        attack.backward(retain_graph=True)
        from_attack = take(shared)
        defend.backward()
        from_defend = take(shared)
        for p, u, v in zip(shared, unit(from_attack), unit(from_defend)):
            p.grad.copy_(u + v)
        for opt in (shared_opt, *side_opts):
            opt.step()
        if r % 10 == 0:
            print(f"round {r:2d}  attack {attack.item():.4f}  defend {defend.item():.4f}")


play()
