# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = region, self.region, vehicle, self.vehicle, codes
"""Motor claims: Poisson frequency with entity embeddings, gamma severity on top."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_REGION, N_VEHICLE = 9, 6


def portfolio(n=600):
    region = torch.randint(N_REGION, (n,))
    vehicle = torch.randint(N_VEHICLE, (n,))
    driver = torch.randn(n, 3)
    exposure = 0.2 + 0.8 * torch.rand(n)
    rate = torch.exp(-1.0 + 0.3 * driver[:, 0] + 0.12 * (region - 4) + 0.1 * vehicle)
    counts = torch.poisson(rate * exposure)
    cost = torch.exp(0.4 * driver[:, 1] + 0.15 * vehicle + 0.2 * torch.randn(n))
    return TensorDataset(region, vehicle, driver, exposure, counts, cost)


class RatingFactors(nn.Module):
    """Looks up a vector for every categorical rating factor of a policy."""

    def __init__(self, dim=4):
        super().__init__()
        self.region = nn.Embedding(N_REGION, dim)
        self.vehicle = nn.Embedding(N_VEHICLE, dim)
        self.width = 2 * dim

    def lookup(self, table, codes):
        # unseen codes are sent to the average of the table
        rows = table.weight  # expect: place
        known = codes < rows.shape[0]
        safe = torch.where(known, codes, torch.zeros_like(codes))
        return torch.where(known[:, None], rows[safe], rows.mean(0))  # expect: place

    def forward(self, region, vehicle):
        return torch.cat([self.lookup(self.region, region), self.lookup(self.vehicle, vehicle)], 1)


class Tariff(nn.Module):
    def __init__(self):
        super().__init__()
        self.factors = RatingFactors()
        self.shared = nn.Linear(self.factors.width + 3, 16)
        self.freq = nn.Linear(16, 1)
        self.sev = nn.Linear(16, 1)

    def forward(self, region, vehicle, driver):
        x = torch.cat([self.factors(region, vehicle), driver], dim=1)
        h = torch.tanh(self.shared(x))
        return self.freq(h).squeeze(1), self.sev(h).squeeze(1)


def loss_of(model, batch):
    region, vehicle, driver, exposure, counts, cost = batch
    log_rate, log_cost = model(region, vehicle, driver)
    nll = F.poisson_nll_loss(log_rate + exposure.log(), counts)
    paid = counts > 0
    gamma = (log_cost + cost * torch.exp(-log_cost))[paid].mean()
    return nll + 0.5 * gamma


def fit(model, data, epochs=4):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(data, batch_size=100, shuffle=True)
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            opt.zero_grad()
            loss = loss_of(model, batch)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}  {total / len(loader):.4f}")


torch.manual_seed(17)
tariff = Tariff()
fit(tariff, portfolio())
print("region relativities:", tariff.factors.region.weight.norm(dim=1).tolist())
