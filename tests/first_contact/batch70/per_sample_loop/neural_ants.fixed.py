# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = desire, log_desire, heuristic
"""Ants on a TSP whose visibility matrix comes from a small edge network (DeepACO style)."""
import torch
import torch.nn as nn


class EdgeScorer(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(5, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, cities):
        n = len(cities)
        a = cities[:, None].expand(n, n, 2)
        b = cities[None].expand(n, n, 2)
        edge = torch.cat([a, b, (a - b).norm(dim=-1, keepdim=True)], dim=-1)
        return self.mlp(edge).squeeze(-1)


class Colony:
    def __init__(self, n_cities, n_ants=10, evaporation=0.1):
        self.n_ants = n_ants
        self.evaporation = evaporation
        self.pheromone = torch.ones(n_cities, n_cities)

    def walk(self, desire):
        """One ant: the tour and the log-probability of its choices."""
        n = len(desire)
        open_ = torch.ones(n, dtype=torch.bool)
        here = int(torch.randint(n, ()))
        tour, logp = [here], 0.0
        open_[here] = False
        for _ in range(n - 1):
            logits = desire[here] + self.pheromone[here].log()
            logits = logits.masked_fill(~open_, float("-inf"))
            choice = torch.distributions.Categorical(logits=logits)
            nxt = choice.sample()
            logp = logp + choice.log_prob(nxt)
            here = int(nxt)
            open_[here] = False
            tour.append(here)
        return tour, logp

    def reinforce(self, tours, lengths):
        self.pheromone = self.pheromone * (1 - self.evaporation)
        best = lengths.index(min(lengths))
        for i, j in zip(tours[best], tours[best][1:] + tours[best][:1]):
            self.pheromone[i, j] += 1.0 / lengths[best]
            self.pheromone[j, i] += 1.0 / lengths[best]


def tour_length(cities, tour):
    p = cities[tour]
    return (p - p.roll(-1, 0)).norm(dim=1).sum().item()


def learn(n_cities=8, instances=4):
    scorer = EdgeScorer()
    opt = torch.optim.Adam(scorer.parameters(), lr=1e-2)
    for k in range(instances):
        cities = torch.rand(n_cities, 2)
        colony = Colony(n_cities)
        desire = scorer(cities)  # expect: place

        walks = [colony.walk(desire) for _ in range(colony.n_ants)]  # expect: place
        tours = [tour for tour, _ in walks]
        lengths = [tour_length(cities, tour) for tour in tours]
        mean = sum(lengths) / len(lengths)

        opt.zero_grad()
        loss = 0.0
        for (_, logp), length in zip(walks, lengths):
            loss = loss + (length - mean) * logp / colony.n_ants
        loss.backward()
        opt.step()
        colony.reinforce(tours, lengths)
        print(f"instance {k}  mean tour {mean:.3f}  best {min(lengths):.3f}")
    return scorer


if __name__ == "__main__":
    torch.manual_seed(13)
    learn()
