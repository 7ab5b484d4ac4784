"""What happened in one watch, and what it was worth."""
import torch


class WatchBuffer:
    def __init__(self, discount, smoothing):
        self.discount, self.smoothing = discount, smoothing
        self.views, self.actions, self.log_probs = [], [], []
        self.values, self.rewards = [], []
        self.columns = {}

    def add(self, view, action, log_prob, value, reward):
        self.views.append(view)
        self.actions.append(action)
        self.log_probs.append(log_prob)
        self.values.append(value.detach())
        self.rewards.append(reward)

    def close(self, last_value):
        advantages, running, after = [], 0.0, last_value
        for reward, value in zip(reversed(self.rewards), reversed(self.values)):
            surprise = reward + self.discount * after - value
            running = surprise + self.discount * self.smoothing * running
            advantages.append(running)
            after = value
        advantage = torch.stack(advantages[::-1])
        values = torch.stack(self.values)
        self.columns = {
            "view": torch.stack(self.views),
            "action": torch.stack(self.actions),
            "log_prob": torch.stack(self.log_probs),
            "advantage": (advantage - advantage.mean()) / (advantage.std() + 1e-6),
            "returns": advantage + values,
        }

    def minibatches(self, size):
        order = torch.randperm(len(self.views))
        for chosen in order.split(size):
            yield {name: column[chosen] for name, column in self.columns.items()}

    def mean_reward(self):
        return sum(self.rewards) / len(self.rewards)
