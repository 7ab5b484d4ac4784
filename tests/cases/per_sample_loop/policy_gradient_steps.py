# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = probs, log_probs
import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 16)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, s):
        return torch.softmax(self.fc2(torch.relu(self.fc1(s))), dim=-1)


def rollout(length=6):
    states = np.random.randn(length, 3).astype(np.float32)
    rewards = (states[:, 0] > 0).astype(np.float32)
    return states, np.random.randint(0, 2, length), rewards


def discounted(rewards, gamma=0.9):
    out, running = np.zeros_like(rewards), 0.0
    for i in reversed(range(len(rewards))):
        running = rewards[i] + gamma * running
        out[i] = running
    return out


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    states, actions, rewards = rollout()
    returns = discounted(rewards)
    probs = policy(torch.from_numpy(states))
    log_probs = torch.log(probs)  # expect: place
    optimizer.zero_grad()
    for t, (action, G) in enumerate(zip(actions, returns)):
        loss = -log_probs[t, action] * float(G)
        loss.backward()  # expect: place
    optimizer.step()
