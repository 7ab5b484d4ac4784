"""TD3 as a module with manual optimisation: four optimizers, one training_step."""
import copy
import torch
from torch import nn
import torch.nn.functional as F


class ManualModule(nn.Module):
    def optimizers(self):
        return self._optimizers_list

    def manual_backward(self, loss):
        loss.backward()


class TD3(ManualModule):
    def __init__(self, s=3, a=1, gamma=0.97):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(s, 16), nn.ReLU(), nn.Linear(16, a), nn.Tanh())
        self.q1 = nn.Sequential(nn.Linear(s + a, 16), nn.ReLU(), nn.Linear(16, 1))
        self.q2 = copy.deepcopy(self.q1)
        self.reward_model = nn.Linear(s + a, 1)
        self.gamma = gamma
        modules = (self.actor, self.q1, self.q2, self.reward_model)
        self._optimizers_list = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in modules]

    def training_step(self, s, a, r, s2):
        opt_pi, opt_q1, opt_q2, opt_r = self.optimizers()
        sa = torch.cat([s, a], dim=1)
        opt_r.zero_grad()
        self.manual_backward(F.mse_loss(self.reward_model(sa), r))
        opt_r.step()

        next_sa = torch.cat([s2, self.actor(s2)], dim=1)
        next_q = torch.min(self.q1(next_sa), self.q2(next_sa))
        q_target = (r + self.gamma * next_q).detach()
        for opt, q in ((opt_q1, self.q1), (opt_q2, self.q2)):
            opt.zero_grad()
            self.manual_backward(F.mse_loss(q(sa), q_target))
            opt.step()

        opt_pi.zero_grad()
        self.manual_backward(-self.q1(torch.cat([s, self.actor(s)], dim=1)).mean())
        opt_pi.step()


torch.manual_seed(0)
agent = TD3()
for _ in range(3):
    s, a, s2 = torch.randn(8, 3), torch.rand(8, 1) * 2 - 1, torch.randn(8, 3)
    agent.training_step(s, a, -(s[:, :1] - a).abs(), s2)
