"""A gliding stone: its brake is learned through a simulation that was first only looked at."""
import torch


class Brake(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(2, 12)
        self.force = torch.nn.Linear(12, 1)

    def forward(self, at, speed):
        seen = torch.cat([at, speed], 1)
        return self.force(torch.tanh(self.hidden(seen))).sigmoid()


def glide(brake, at, speed, dt=0.1):
    slower = speed - dt * speed * brake(at, speed)
    return at + dt * slower, slower


def run(brake, speed, steps=15):
    at, path = torch.zeros_like(speed), []
    for _ in range(steps):
        at, speed = glide(brake, at, speed)
        path.append(at)
    return path


if __name__ == "__main__":
    torch.manual_seed(30)
    brake = Brake()
    optimizer = torch.optim.Adam(brake.parameters(), lr=0.02)
    for throw in range(8):
        path = run(brake, 2 + torch.rand(10, 1))
        miss = (path[-1] - 1.5).pow(2).mean()
        optimizer.zero_grad()
        miss.backward()
        optimizer.step()
    print(f"{miss.item():.4f}")
