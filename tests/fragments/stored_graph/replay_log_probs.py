# expect: pattern = stored-graph
# expect: also = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = log_probs
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = optim.SGD(policy.parameters(), 0.01)
episodes = 3


def run_episode():
    return [(torch.randn(4), 1.0) for _ in range(3)]


log_probs = []
rewards = []
# paste: begin
for ep in range(episodes):
    for state, r in run_episode():
        probs = F.softmax(policy(state), dim=-1)
        log_probs.append(torch.log(probs[0]))  # expect: place
        rewards.append(r)
    loss = 0
    for lp, R in zip(log_probs, rewards):
        loss = loss - lp * R
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
# paste: end
