"""Berths for ferries by REINFORCE: live log-probabilities in a buffer, emptied after every tide.

The pilot's memory runs on from tide to tide, cut between them.
"""
import torch
from torch import nn


class TideBuffer:
    def __init__(self):
        self.log_probs, self.rewards = [], []

    def put(self, log_prob, reward):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)

    def take(self):
        pair = torch.stack(self.log_probs), torch.tensor(self.rewards)
        self.log_probs, self.rewards = [], []
        return pair


class Pilot(nn.Module):
    def __init__(self, berths, width=12):
        super().__init__()
        self.cell = nn.LSTMCell(berths + 1, width)
        self.choice = nn.Linear(width, berths)
        self.memory = None

    def forward(self, seen):
        self.memory = self.cell(seen, self.memory)
        return torch.distributions.Categorical(logits=self.choice(self.memory[0]))

    def cut(self):
        self.memory = tuple(part.detach() for part in self.memory)


class Harbour:
    def __init__(self, berths):
        self.depth = torch.linspace(0.5, 2.0, berths)
        self.busy = torch.zeros(berths)

    def arrival(self):
        self.draught = 0.5 + torch.rand(1)
        return torch.cat([self.busy, self.draught]).unsqueeze(0)

    def berth(self, at):
        good = self.depth[at] >= self.draught and self.busy[at] < 1.0
        self.busy = 0.7 * self.busy
        self.busy[at] += 1.0
        return 1.0 if good else 0.0


def returns(rewards, discount=0.8):
    out, after = [], 0.0
    for reward in reversed(rewards.tolist()):
        after = reward + discount * after
        out.append(after)
    return torch.tensor(out[::-1])


def main(tides=15, ferries=8, berths=4):
    torch.manual_seed(26)
    harbour, pilot, buffer = Harbour(berths), Pilot(berths), TideBuffer()
    opt = torch.optim.Adam(pilot.parameters(), lr=0.02)
    for tide in range(tides):
        for _ in range(ferries):
            odds = pilot(harbour.arrival())
            at = odds.sample()
            buffer.put(odds.log_prob(at).squeeze(0), harbour.berth(at.item()))
        log_probs, rewards = buffer.take()
        gain = returns(rewards)
        loss = -(log_probs * (gain - gain.mean())).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        pilot.cut()
        print(tide, rewards.sum().item(), round(loss.item(), 4))


main()
