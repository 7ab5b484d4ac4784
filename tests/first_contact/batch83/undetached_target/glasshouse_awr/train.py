# expect: pattern = undetached-target
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = worth, told, total, pages, turned_out, self.pages, book
import torch
from torch import nn

from days import DayBook
from glasshouse import Glasshouse


class Venting(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(size, 24), nn.Tanh(), nn.Linear(24, 1))
        self.log_std = nn.Parameter(torch.tensor(-0.7))

    def plan(self, state):
        return torch.distributions.Normal(self.mean(state).squeeze(-1), self.log_std.exp())

    @torch.no_grad()
    def sample(self, state):
        return self.plan(state).sample()


torch.manual_seed(12)
house = Glasshouse(plots=8, seed=3)
actor = Venting(house.size)
critic = nn.Sequential(nn.Linear(house.size, 24), nn.Tanh(), nn.Linear(24, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
book = DayBook()
for week in range(3):
    for _ in range(2):
        book.live_through(house, actor, critic, hours=6)
    for epoch in range(2):
        for state, opening, turned_out in book.shuffled(48):
            value = critic(state).squeeze(-1)
            critic_loss = (value - turned_out).pow(2).mean()  # expect: place
            critic_opt.zero_grad()
            critic_loss.backward()  # expect: place
            critic_opt.step()

            weight = (turned_out - value).detach().div(0.5).exp().clamp(max=20)
            actor_loss = -(weight * actor.plan(state).log_prob(opening)).mean()
            actor_opt.zero_grad()
            actor_loss.backward()
            actor_opt.step()
    print(week, round(critic_loss.item(), 4), round(actor_loss.item(), 4))
    book.burn()
