"""A bandit's policy descends its regret; the descending is left to a small class."""
import torch


class Descent:
    def __init__(self, params, rate, weight=0.5):
        self.weight = weight
        self.optimizer = torch.optim.SGD(params, lr=rate)

    def go_down(self, objective):
        descent = self.weight * objective
        descent.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


torch.manual_seed(17)
pay = torch.tensor([0.1, 0.7, 0.4])
preferences = torch.zeros(3, requires_grad=True)
descent = Descent([preferences], rate=0.5)
for pull in range(6):
    policy = torch.distributions.Categorical(logits=preferences)
    arms = policy.sample((64,))
    reward = pay[arms] + 0.1 * torch.randn(64)
    regret = -(policy.log_prob(arms) * reward).mean()
    descent.go_down(regret)
    print(pull, [round(p, 3) for p in policy.probs.tolist()])
