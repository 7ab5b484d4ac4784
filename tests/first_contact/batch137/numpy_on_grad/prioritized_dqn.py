# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = td_error, priorities
"""Deep Q-learning with prioritized replay for a warehouse restocking toy."""
import numpy as np
import torch
import torch.nn as nn

CAPACITY, MAX_ORDER = 12, 5


class Warehouse:
    def __init__(self, rng):
        self.rng = rng
        self.stock = CAPACITY // 2

    def observe(self):
        return np.array([self.stock / CAPACITY, 1.0], dtype=np.float32)

    def step(self, order):
        self.stock = min(CAPACITY, self.stock + order)
        demand = self.rng.poisson(2)
        sold = min(self.stock, demand)
        self.stock -= sold
        reward = 1.0 * sold - 0.3 * order - 0.05 * self.stock
        return self.observe(), reward


class PrioritizedReplay:
    def __init__(self, size, rng, alpha=0.6):
        self.size, self.rng, self.alpha = size, rng, alpha
        self.items = []
        self.priorities = np.zeros(size, dtype=np.float64)

    def add(self, transition):
        top = self.priorities.max() if self.items else 1.0
        self.priorities[len(self.items) % self.size] = top
        self.items.append(transition)

    def sample(self, batch_size, beta=0.4):
        p = self.priorities[:len(self.items)] ** self.alpha
        p /= p.sum()
        index = self.rng.choice(len(self.items), batch_size, p=p)
        weights = (len(self.items) * p[index]) ** -beta
        columns = [torch.as_tensor(np.array(c)) for c in zip(*[self.items[i] for i in index])]
        return index, torch.as_tensor(weights / weights.max()).float(), columns

    def update(self, index, priorities):
        self.priorities[index] = priorities + 1e-5


class Agent:
    def __init__(self, gamma=0.95):
        self.gamma = gamma
        self.online, self.target = self.build(), self.build()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-3)

    @staticmethod
    def build():
        return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, MAX_ORDER + 1))

    def learn(self, replay, batch_size=16):
        index, weights, (state, action, reward, following) = replay.sample(batch_size)
        q = self.online(state).gather(1, action.long().unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            bootstrap = self.target(following).max(dim=1).values
        td_error = q - (reward.float() + self.gamma * bootstrap)  # expect: place
        loss = (weights * td_error.pow(2)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        replay.update(index, td_error.abs().numpy())  # expect: place
        return loss.item()


def main():
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    env, agent, replay = Warehouse(rng), Agent(), PrioritizedReplay(256, rng)
    state = env.observe()
    for step in range(80):
        order = int(rng.integers(0, MAX_ORDER + 1))
        following, reward = env.step(order)
        replay.add((state, order, reward, following))
        state = following
        if step >= 32:
            loss = agent.learn(replay)
            if step % 16 == 0:
                print(f"step {step}: loss {loss:.4f}")
                agent.target.load_state_dict(agent.online.state_dict())


if __name__ == "__main__":
    main()
