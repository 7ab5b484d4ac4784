"""Actor and critic with an optimizer each; a replay buffer sampled with `random`."""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn

Transition = namedtuple("Transition", ["state", "action", "reward", "next_state"])


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, n):
        return Transition(*(torch.stack(col) for col in zip(*random.sample(list(self.memory), n))))


class Learner:
    def __init__(self, gamma=0.9):
        self.gamma = gamma
        self.policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))
        self.value = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.opt_policy = torch.optim.SGD(self.policy.parameters(), lr=0.05)
        self.opt_value = torch.optim.SGD(self.value.parameters(), lr=0.05)

    def learn(self, batch):
        v = self.value(batch.state).squeeze(1)
        with torch.no_grad():
            target = batch.reward + self.gamma * self.value(batch.next_state).squeeze(1)
        td = target - v
        logp = self.policy(batch.state).log_softmax(1).gather(1, batch.action[:, None]).squeeze(1)

        value_loss = td.pow(2).mean()
        policy_loss = -(logp * td.detach()).mean()

        self.opt_policy.zero_grad()
        value_loss.backward()
        self.value.zero_grad()
        policy_loss.backward()
        self.opt_value.step()
        self.opt_policy.step()
        return value_loss.item(), policy_loss.item()


def main():
    random.seed(25)
    torch.manual_seed(25)
    memory, learner = ReplayMemory(100), Learner()
    state = torch.randn(2)
    for _ in range(60):
        action = torch.randint(0, 3, ())
        nxt = 0.9 * state + 0.2 * (action.float() - 1) + 0.05 * torch.randn(2)
        memory.push(state, action, -nxt.abs().sum(), nxt)
        state = nxt
    for i in range(10):
        value_loss, policy_loss = learner.learn(memory.sample(16))
        print("update %d value %.3f policy %.3f" % (i, value_loss, policy_loss))


if __name__ == "__main__":
    main()
