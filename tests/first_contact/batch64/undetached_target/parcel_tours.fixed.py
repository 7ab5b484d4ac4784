# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantage, expected
"""Learning to order parcel stops: attention policy, learned baseline, REINFORCE."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Tours:
    order: torch.Tensor       # (batch, stops) visiting order
    log_prob: torch.Tensor    # (batch,)
    cost: torch.Tensor        # (batch,) kilometres
    expected: torch.Tensor    # (batch,) what the dispatcher model thought it would cost

    @property
    def advantage(self):
        return self.cost - self.expected.detach()  # expect: place


class StopEncoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.lift = nn.Linear(3, width)
        self.mix = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)

    def forward(self, stops):
        return self.mix(self.lift(stops))


class TourPolicy(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = StopEncoder(width)
        self.depot = nn.Parameter(torch.randn(width) * 0.1)
        self.query = nn.Linear(2 * width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)

    def forward(self, stops):
        emb = self.encoder(stops)
        batch, n, width = emb.shape
        keys, context = self.key(emb), emb.mean(1)
        last = self.depot.expand(batch, width)
        visited = torch.zeros(batch, n, dtype=torch.bool)
        order, log_prob = [], []
        for _ in range(n):
            q = self.query(torch.cat([context, last], 1))
            score = 10 * torch.tanh((keys @ q[:, :, None]).squeeze(2) / width ** 0.5)
            dist = torch.distributions.Categorical(logits=score.masked_fill(visited, -1e9))
            pick = dist.sample()
            order.append(pick)
            log_prob.append(dist.log_prob(pick))
            visited = visited.scatter(1, pick[:, None], True)
            last = emb[torch.arange(batch), pick]
        return torch.stack(order, 1), torch.stack(log_prob, 1).sum(1)


class CostEstimator(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = StopEncoder(width)
        self.out = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, stops):
        return self.out(self.encoder(stops).mean(1)).squeeze(1)


def drive(stops, order):
    """Length of depot - stops - depot, weighted by how heavy the van still is."""
    xy = stops[..., :2].gather(1, order[..., None].expand(-1, -1, 2))
    load = stops[..., 2].gather(1, order)
    depot = xy.new_zeros(len(xy), 1, 2)
    legs = (torch.cat([xy, depot], 1) - torch.cat([depot, xy], 1)).norm(dim=2)
    on_board = torch.cat([load.flip(1).cumsum(1).flip(1), load.new_zeros(len(xy), 1)], 1)
    return (legs * (1 + 0.2 * on_board)).sum(1)


class Dispatcher:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.policy, self.estimator = TourPolicy(), CostEstimator()
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.estimator_opt = torch.optim.Adam(self.estimator.parameters(), lr=3e-3)

    def plan(self, stops):
        order, log_prob = self.policy(stops)
        return Tours(order, log_prob, drive(stops, order), self.estimator(stops))  # expect: place

    def update(self, tours):
        value_loss = F.mse_loss(tours.expected, tours.cost)
        self.estimator_opt.zero_grad()
        value_loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.estimator.parameters(), 5.0)
        self.estimator_opt.step()

        policy_loss = (tours.advantage * tours.log_prob).mean()  # expect: place
        self.policy_opt.zero_grad()
        policy_loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.policy_opt.step()
        return tours.cost.mean().item(), value_loss.item()


if __name__ == "__main__":
    dispatcher = Dispatcher(seed=7)
    for day in range(8):
        stops = torch.rand(32, 8, 3) * torch.tensor([2.0, 2.0, 0.5]) - torch.tensor([1.0, 1.0, 0.0])
        km, miss = dispatcher.update(dispatcher.plan(stops))
        if day % 4 == 3:
            print(f"day {day + 1}: {km:.2f} km, estimator mse {miss:.2f}")
