# expect: pattern = starved-parameter
"""A hypernetwork writes the layer that suits each machine's vibration profile."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class WeightWriter(nn.Module):
    """From a machine's code to the weights of one layer."""

    def __init__(self, code_dim, fan_in, fan_out):
        super().__init__()
        self.fan_in, self.fan_out = fan_in, fan_out
        self.trunk = nn.Sequential(nn.Linear(code_dim, 32), nn.Tanh())
        self.to_weight = nn.Linear(32, fan_in * fan_out)
        self.to_bias = nn.Linear(32, fan_out)

    def forward(self, code):
        h = self.trunk(code)
        return self.to_weight(h).view(self.fan_out, self.fan_in), self.to_bias(h)


class MachineModel(nn.Module):
    def __init__(self, machines, sensors, code_dim=6):
        super().__init__()
        self.codes = nn.Embedding(machines, code_dim)
        self.writer = WeightWriter(code_dim, sensors, 10)
        self.layer = nn.Linear(sensors, 10)
        self.wear = nn.Linear(10, 1)

    def forward(self, machine, reading):
        weight, bias = self.writer(self.codes(machine))
        self.layer.weight.data = weight  # expect: place
        self.layer.bias.data = bias  # expect: place
        h = self.layer(reading)
        return self.wear(torch.relu(h)).squeeze(-1)


def plant(machines, sensors, each):
    """Every machine has its own direction in which its wear shows."""
    direction = torch.randn(machines, sensors)
    reading = torch.randn(machines, each, sensors)
    wear = torch.einsum("ms,mes->me", direction, reading).abs()
    return reading, wear


def main():
    torch.manual_seed(5)
    machines, sensors = 3, 7
    reading, wear = plant(machines, sensors, each=32)
    model = MachineModel(machines, sensors)
    trained = list(model.codes.parameters()) + list(model.writer.parameters()) + list(model.wear.parameters())
    opt = torch.optim.Adam(trained, lr=1e-2)

    for epoch in range(30):
        losses = []
        for m in range(machines):
            guess = model(torch.tensor(m), reading[m])
            mse = F.mse_loss(guess, wear[m])
            opt.zero_grad()
            mse.backward()
            opt.step()
            losses.append(mse.item())
        if epoch % 10 == 0 or epoch == 29:
            print(f"epoch {epoch}: " + " ".join(f"{v:.3f}" for v in losses))


if __name__ == "__main__":
    main()
