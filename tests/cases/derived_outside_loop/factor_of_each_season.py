# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.factor, factor, field.factor
"""Rain between the gauges: the factor of their covariance is prepared once a season."""
import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, gauges):
        super().__init__()
        self.register_buffer("gauges", gauges)
        self.place = nn.Linear(2, 3)
        self.log_reach = nn.Parameter(torch.zeros(3))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def likeness(self, a, b):
        apart = (self.place(a)[:, None] - self.place(b)[None]) / self.log_reach.exp()
        return torch.exp(-0.5 * apart.square().sum(-1))

    def prepare(self):
        own = self.likeness(self.gauges, self.gauges)
        own = own + self.log_noise.exp() * torch.eye(len(self.gauges))
        self.factor = torch.linalg.cholesky(own)  # expect: place

    def forward(self, where, rain):
        near = self.likeness(where, self.gauges)
        return near @ torch.cholesky_solve(rain, self.factor)  # expect: place


torch.manual_seed(3)
gauges = torch.rand(7, 2)
field = Field(gauges)
opt = torch.optim.Adam(field.parameters(), lr=0.02)
days = [(torch.rand(5, 2), torch.rand(7, 1), torch.rand(5, 1)) for _ in range(6)]
for season in range(3):
    field.prepare()  # expect: place
    for where, rain, seen in days:
        loss = (field(where, rain) - seen).abs().mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
