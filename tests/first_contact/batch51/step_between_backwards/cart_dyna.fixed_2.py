# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = actor_loss, model_loss
# model-based control of a damped pendulum on a cart: learn the dynamics, plan through them with the policy
import torch
import torch.nn as nn
from torch.optim import Adam

torch.manual_seed(31)


class Plant:
    """the real thing (unknown to the agent): theta, omega, x, v"""
    dt = 0.05

    def __call__(self, s, u):
        th, om, x, v = s.unbind(-1)
        u = u.squeeze(-1).clamp(-3, 3)
        acc = u - 0.1 * v
        alpha = -4.0 * torch.sin(th) - 0.3 * om - 0.8 * acc * torch.cos(th)
        return torch.stack([th + self.dt * om, om + self.dt * alpha, x + self.dt * v, v + self.dt * acc], -1)


class Dynamics(nn.Module):
    def __init__(self, n_state=4, n_action=1, hidden=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_state + n_action, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, n_state),
        )

    def forward(self, s, u):
        return s + 0.1 * self.net(torch.cat([s, u], -1))


class Policy(nn.Module):
    def __init__(self, n_state=4, n_action=1, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_state, hidden), nn.Tanh(), nn.Linear(hidden, n_action))

    def forward(self, s):
        return 3 * torch.tanh(self.net(s))


class Agent:
    def __init__(self, horizon=12, gamma=0.97):
        self.horizon, self.gamma = horizon, gamma
        self.dynamics, self.policy = Dynamics(), Policy()
        self.model_opt = Adam(self.dynamics.parameters(), lr=3e-3)
        self.actor_opt = Adam(self.policy.parameters(), lr=1e-2)
        self.weight = torch.tensor([1.0, 0.1, 0.5, 0.05])

    def cost(self, s, u):
        return (self.weight * s ** 2).sum(-1) + 1e-2 * u.squeeze(-1) ** 2

    def imagine(self, s):
        """discounted cost of following the policy inside the learned model"""
        total = 0.0
        for t in range(self.horizon):
            u = self.policy(s)
            s = self.dynamics(s, u)
            total = total + self.gamma ** t * self.cost(s, u)
        return total.mean() / self.horizon

    def update(self, s, u, s_next):
        model_loss = 100 * nn.functional.mse_loss(self.dynamics(s, u), s_next)
        actor_loss = self.imagine(s)

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.model_opt.zero_grad()
        model_loss.backward()

        self.model_opt.step()
        self.actor_opt.step()
        return model_loss.item(), actor_loss.item()


def collect(plant, policy, buffer, episodes=8, steps=12):
    with torch.no_grad():
        s = torch.randn(episodes, 4) * torch.tensor([0.8, 0.5, 0.8, 0.5])
        for _ in range(steps):
            u = policy(s) + 0.5 * torch.randn(episodes, 1)
            nxt = plant(s, u)
            buffer.extend(zip(s, u, nxt))
            s = nxt


def real_cost(plant, agent, start, steps=40):
    with torch.no_grad():
        s, total = start, 0.0
        for _ in range(steps):
            u = agent.policy(s)
            s = plant(s, u)
            total += agent.cost(s, u).mean().item() / steps
    return total


def main():
    plant, agent, buffer = Plant(), Agent(), []
    start = torch.tensor([[0.8, 0.0, 0.0, 0.0], [0.0, 0.0, 1.2, 0.0], [-0.6, 0.5, -0.8, 0.2]])
    print('cost on the plant before training %.4f' % real_cost(plant, agent, start))
    for epoch in range(10):
        collect(plant, agent.policy, buffer)
        sums = [0.0, 0.0]
        for _ in range(15):
            pick = torch.randint(0, len(buffer), (64,)).tolist()
            s, u, nxt = (torch.stack(col) for col in zip(*(buffer[i] for i in pick)))
            for k, value in enumerate(agent.update(s, u, nxt)):
                sums[k] += value / 15
        print("epoch %d   model %.4f   imagined cost %.4f   on the plant %.4f" % (epoch, *sums, real_cost(plant, agent, start)))


main()
