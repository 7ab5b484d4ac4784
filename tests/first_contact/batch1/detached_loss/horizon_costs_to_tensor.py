# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = costs, cost, loss
"""Train a controller through a known cart model (differentiable simulation)."""
import torch
import torch.nn as nn


class Cart:
    """Position and speed under a push, semi-implicit Euler."""

    def __init__(self, dt=0.1, friction=0.2):
        self.dt, self.friction = dt, friction

    def step(self, state, force):
        pos, vel = state[:, :1], state[:, 1:]
        vel = vel + self.dt * (force - self.friction * vel)
        pos = pos + self.dt * vel
        return torch.cat([pos, vel], dim=1)


class Controller(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.gain = nn.Parameter(torch.tensor(1.0))

    def forward(self, state):
        return self.gain * torch.tanh(self.net(state))


def stage_cost(state, force):
    return (state[:, 0] ** 2 + 0.1 * state[:, 1] ** 2 + 0.01 * force.squeeze(1) ** 2).mean()


def simulate(cart, controller, state, horizon):
    costs = []
    for t in range(horizon):
        force = controller(state)
        state = cart.step(state, force)
        costs.append(stage_cost(state, force))
    return torch.tensor(costs), state  # expect: place


def main():
    torch.manual_seed(88)
    cart, controller = Cart(), Controller()
    optimizer = torch.optim.Adam(controller.parameters(), lr=0.02)
    discount = 0.98 ** torch.arange(12.0)
    for it in range(10):
        start = torch.randn(16, 2)
        costs, final = simulate(cart, controller, start, horizon=12)
        loss = (discount * costs).sum()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        if it % 3 == 0:
            print("iter %2d cost %.4f final |x| %.3f" % (it, loss.item(), final[:, 0].abs().mean().item()))


if __name__ == "__main__":
    main()
