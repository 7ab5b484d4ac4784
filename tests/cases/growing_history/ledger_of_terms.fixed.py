"""Power flow: a network learns set points, a ledger adds up what each term of the cost was."""
import torch
from torch import nn


class Ledger:
    def __init__(self):
        self.sums = {}
        self.weights = {}

    def note(self, term, cost, weight):
        self.sums[term] = self.sums.get(term, 0) + cost * weight
        self.weights[term] = self.weights.get(term, 0) + weight

    def report(self):
        return {term: float(total) / self.weights[term] for term, total in self.sums.items()}


def terms(setpoint, demand):
    yield "imbalance", (setpoint.sum(1) - demand.sum(1)).pow(2).mean()
    yield "fuel", setpoint.pow(2).mul(0.1).sum(1).mean()


torch.manual_seed(21)
controller = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3), nn.Softplus())
optimizer = torch.optim.Adam(controller.parameters(), lr=1e-2)
ledger = Ledger()
for hour in range(30):
    demand = torch.rand(12, 5)
    cost = torch.zeros(())
    for term, value in terms(controller(demand), demand):
        ledger.note(term, value.detach(), len(demand))
        cost = cost + value
    optimizer.zero_grad()
    cost.backward()
    optimizer.step()
print(ledger.report())
