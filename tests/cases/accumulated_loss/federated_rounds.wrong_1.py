# A simulated federation: clients only compute losses, the server walks their sum in each round.
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Client:
    x: torch.Tensor
    y: torch.Tensor

    def loss(self, model):
        return nn.functional.binary_cross_entropy_with_logits(model(self.x), self.y)


class Server:
    def __init__(self, model, clients, lr=0.2):
        self.model, self.clients = model, clients
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.objective = 0.0

    def sample(self, k):
        return [self.clients[i] for i in torch.randperm(len(self.clients))[:k]]

    def round(self, k=3):
        chosen = self.sample(k)
        size = sum(len(c.x) for c in chosen)
        for client in chosen:
            self.objective += len(client.x) / size * client.loss(self.model)
        self.optimizer.zero_grad()
        self.objective.backward(retain_graph=True)
        self.optimizer.step()
        return self.objective.item()


def make_clients(n, dim=6):
    truth = torch.randn(dim, 1)
    clients = []
    for _ in range(n):
        x = torch.randn(torch.randint(8, 20, ()).item(), dim)
        clients.append(Client(x, (x @ truth > 0).float()))
    return clients


torch.manual_seed(30)
server = Server(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)), make_clients(5))
for r in range(4):
    print("round", r, server.round())
