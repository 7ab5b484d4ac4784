"""A cabin on a rope: bring it to the station and do not let it swing."""
import torch


class Cabin:
    horizon = 25

    def reset(self):
        self.state = torch.tensor([1.0 + 0.2 * torch.randn(()), 0.0, 0.3 * torch.randn(()), 0.0])
        self.left = self.horizon
        return self.state.clone()

    def step(self, pull):
        x, v, angle, spin = self.state
        dt, pull = 0.1, pull.clamp(-1, 1)
        spin = spin - dt * (4 * angle + pull + 0.1 * spin)
        v = v + dt * (2 * pull - 0.2 * v)
        self.state = torch.stack([x + dt * v, v, angle + dt * spin, spin])
        self.left -= 1
        reward = -(self.state[0] ** 2 + 0.5 * self.state[2] ** 2 + 0.01 * pull**2)
        return self.state.clone(), reward, self.left == 0
