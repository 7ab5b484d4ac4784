# expect: pattern = none
"""Two-step look-ahead of a crane: the simulator's state is saved and put back, each plan has its own graph."""
import torch


class Crane:
    def __init__(self, dt=0.1):
        self.dt = dt
        self.state = torch.zeros(2)

    def save(self):
        return self.state.detach().clone()

    def restore(self, state):
        self.state = state

    def push(self, force):
        angle, speed = self.state
        speed = speed + self.dt * (force - torch.sin(angle))
        self.state = torch.stack([angle + self.dt * speed, speed])
        return self.state


torch.manual_seed(6)
policy = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(policy.parameters(), lr=0.05)
crane = Crane()
for tick in range(8):
    here = crane.save()
    cost = 0.0
    for _ in range(5):
        s = crane.push(policy(crane.state).squeeze())
        cost = cost + (s[0] - 0.5).square() + 0.01 * s[1].square()
    opt.zero_grad()
    cost.backward()
    opt.step()
    crane.restore(here)
    with torch.no_grad():
        crane.push(policy(crane.state).squeeze())
    print(tick, cost.item(), crane.state.tolist())
