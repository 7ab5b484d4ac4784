"""Who told whom: beliefs on a line of people are updated one after the other by learned trust."""
import torch


class Rumour:
    def __init__(self, people):
        self.trust = torch.full((people,), 0.5, requires_grad=True)
        self.people = people

    def absorb(self, table, person):
        heard = table[person - 1].detach() * self.trust[person]
        table[person] = 0.5 * table[person] + heard

    def spread(self, first):
        beliefs = torch.zeros(self.people, first.numel())
        beliefs[0] = first
        for person in range(1, self.people):
            self.absorb(beliefs, person)
        return beliefs


torch.manual_seed(19)
rumour = Rumour(5)
optimizer = torch.optim.SGD([rumour.trust], lr=0.3)
for day in range(6):
    first = torch.rand(4)
    beliefs = rumour.spread(first)
    loss = (beliefs[-1] - 0.2 * first).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", rumour.trust.tolist())
