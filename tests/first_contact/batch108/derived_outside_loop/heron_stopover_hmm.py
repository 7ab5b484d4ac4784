# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.log_move, log_move, self.log_start, log_start, hmm.log_move, hmm.log_start
"""Where night herons rest: a hidden Markov model of stopovers, fitted by gradient.

Daily fixes give a speed and a heading change; the states are resting, foraging and travelling.
"""
import math

import torch
from torch import Tensor, nn
from torch.distributions import Gamma, VonMises

STATES = ("resting", "foraging", "travelling")
TRUE_MOVE = torch.tensor([[0.85, 0.13, 0.02], [0.20, 0.70, 0.10], [0.05, 0.15, 0.80]])
TRUE_SPEED = torch.tensor([0.3, 1.5, 6.0])


def bird(days: int) -> tuple[Tensor, Tensor]:
    states = [0]
    for _ in range(days - 1):
        states.append(int(torch.multinomial(TRUE_MOVE[states[-1]], 1)))
    z = torch.tensor(states)
    speed = TRUE_SPEED[z] * (0.4 * torch.randn(days)).exp()
    turn = (math.pi * (2 * torch.rand(days) - 1)) / (1 + z)
    return speed, turn


class StopoverHMM(nn.Module):
    def __init__(self, k: int = 3):
        super().__init__()
        self.move_logits = nn.Parameter(2.0 * torch.eye(k))
        self.start_logits = nn.Parameter(torch.zeros(k))
        self.log_shape = nn.Parameter(torch.zeros(k))
        self.log_mean = nn.Parameter(torch.tensor([-0.5, 0.5, 1.2]))
        self.log_kappa = nn.Parameter(torch.tensor([-1.0, 0.0, 0.5]))
        # rows in log space, the forward recursion needs them all the time
        self.log_move = self.move_logits.log_softmax(-1)  # expect: place
        self.log_start = self.start_logits.log_softmax(-1)  # expect: place

    def emissions(self, speed: Tensor, turn: Tensor) -> Tensor:
        shape = self.log_shape.exp()
        steps = Gamma(shape, shape / self.log_mean.exp()).log_prob(speed.unsqueeze(-1))
        turns = VonMises(torch.zeros(3), self.log_kappa.exp()).log_prob(turn.unsqueeze(-1))
        return steps + turns

    def forward(self, speed: Tensor, turn: Tensor) -> Tensor:
        seen = self.emissions(speed, turn)
        alpha = self.log_start + seen[0]  # expect: place
        for now in seen[1:]:
            alpha = torch.logsumexp(alpha.unsqueeze(1) + self.log_move, dim=0) + now  # expect: place
        return alpha.logsumexp(0)

    @torch.no_grad()
    def decode(self, speed: Tensor, turn: Tensor) -> list[str]:
        seen = self.emissions(speed, turn)
        best, back = self.log_start + seen[0], []
        for now in seen[1:]:
            score, source = (best.unsqueeze(1) + self.log_move).max(0)
            best = score + now
            back.append(source)
        path = [int(best.argmax())]
        for source in reversed(back):
            path.append(int(source[path[-1]]))
        return [STATES[s] for s in reversed(path)]


def fit(hmm: StopoverHMM, birds: list[tuple[Tensor, Tensor]], rounds: int) -> list[float]:
    optimizer = torch.optim.Adam(hmm.parameters(), lr=0.05)
    trace = []
    for _ in range(rounds):
        nll = -sum(hmm(*track) for track in birds) / sum(len(track[0]) for track in birds)
        optimizer.zero_grad()
        nll.backward()  # expect: place
        optimizer.step()
        trace.append(nll.item())
    return trace


if __name__ == "__main__":
    torch.manual_seed(31)
    birds = [bird(25) for _ in range(4)]
    hmm = StopoverHMM()
    trace = fit(hmm, birds, rounds=12)
    print("nll a day:", " ".join(f"{value:.3f}" for value in trace))
    print("first bird:", " ".join(name[0] for name in hmm.decode(*birds[0])))
