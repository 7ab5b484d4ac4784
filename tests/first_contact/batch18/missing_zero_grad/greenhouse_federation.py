# expect: pattern = missing-zero-grad
# expect: carrier = grad, net, message
"""Greenhouses share what they learnt about leaf moisture, not their readings: gradients go to a server."""
import torch
from torch import nn
import torch.nn.functional as F


def build():
    return nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))


class Greenhouse:
    """Keeps its readings; its copy of the net is refreshed from the server before each round."""

    def __init__(self, name, shift, rows=96):
        self.name = name
        self.x = torch.randn(rows, 5) + shift
        self.y = (self.x[:, :1] * 0.7 - torch.sin(self.x[:, 1:2]) + 0.1 * torch.randn(rows, 1))
        self.net = build()

    def refresh(self, weights):
        self.net.load_state_dict(weights)

    def answer(self, size=24):
        rows = torch.randint(0, len(self.x), (size,))
        loss = F.mse_loss(self.net(self.x[rows]), self.y[rows])
        loss.backward()  # expect: place
        message = {name: p.grad.clone() for name, p in self.net.named_parameters()}  # expect: place
        return {"from": self.name, "rows": size, "loss": loss.item(), "gradients": message}


class Server:
    def __init__(self, lr):
        self.net = build()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr)
        self.inbox = {}

    def receive(self, message):
        self.inbox[message["from"]] = message

    def merge(self):
        rows = sum(m["rows"] for m in self.inbox.values())
        self.optimizer.zero_grad()
        for name, p in self.net.named_parameters():
            p.grad = sum(m["gradients"][name] * (m["rows"] / rows) for m in self.inbox.values())
        self.optimizer.step()
        error = sum(m["loss"] * m["rows"] for m in self.inbox.values()) / rows
        self.inbox.clear()
        return error


def main(rounds=30):
    houses = [Greenhouse("north", -0.5), Greenhouse("tunnel", 0.0, rows=64), Greenhouse("hill", 0.6)]
    server = Server(lr=0.02)
    for number in range(rounds):
        weights = server.net.state_dict()
        for house in houses:
            house.refresh(weights)
            server.receive(house.answer(size=16 if house.name == "tunnel" else 24))
        error = server.merge()
        if number % 5 == 0:
            print(f"round {number:3d}  error {error:.4f}")


if __name__ == "__main__":
    torch.manual_seed(4)
    main()
