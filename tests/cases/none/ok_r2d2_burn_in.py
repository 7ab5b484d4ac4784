# expect: pattern = none
# Stored recurrent states, a burn-in without graph, then one walk over the rest of the sequence.
import collections
import random

import torch
from torch import nn

Sequence = collections.namedtuple("Sequence", "obs action reward state")


class RecurrentQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.q = nn.GRU(3, 12), nn.Linear(12, 2)

    def forward(self, obs, state):
        h, state = self.rnn(obs, state)
        return self.q(h), state


def act_episode(net, length=8):
    state, first = torch.zeros(1, 1, 12), None
    obs = torch.randn(length, 1, 3)
    with torch.no_grad():
        q, _ = net(obs, state)
    action = q.argmax(-1)
    return Sequence(obs, action, (action.float() - obs[..., 0]).neg().squeeze(1), state)


def learn(net, target, opt, seq, burn=3, gamma=0.9):
    with torch.no_grad():
        _, state = net(seq.obs[:burn], seq.state)
        q_target, _ = target(seq.obs[burn:], state)
    q, _ = net(seq.obs[burn:], state)
    chosen = q.gather(-1, seq.action[burn:].unsqueeze(-1)).flatten()
    wanted = seq.reward[burn:-1] + gamma * q_target.max(-1).values.flatten()[1:]
    loss = nn.functional.mse_loss(chosen[:-1], wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


random.seed(0)
torch.manual_seed(0)
net, target = RecurrentQ(), RecurrentQ()
target.load_state_dict(net.state_dict())
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
replay = [act_episode(net) for _ in range(4)]
for i in range(6):
    print(i, learn(net, target, opt, random.choice(replay)))
