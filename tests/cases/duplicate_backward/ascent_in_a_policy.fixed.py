"""A bandit's policy climbs its expected reward; the climbing is left to a small class."""
import torch


class Ascent:
    def __init__(self, params, rate):
        self.optimizer = torch.optim.SGD(params, lr=rate)

    def climb(self, objective):
        descent = -objective
        descent.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


torch.manual_seed(17)
pay = torch.tensor([0.1, 0.7, 0.4])
preferences = torch.zeros(3, requires_grad=True)
ascent = Ascent([preferences], rate=0.5)
for pull in range(6):
    policy = torch.distributions.Categorical(logits=preferences)
    arms = policy.sample((64,))
    reward = pay[arms] + 0.1 * torch.randn(64)
    gain = (policy.log_prob(arms) * reward).mean()
    ascent.climb(gain)
    print(pull, [round(p, 3) for p in policy.probs.tolist()])
