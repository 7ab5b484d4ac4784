# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = opt_ids, opt_dense, self.opt_ids, net.station, net.species, station, species
"""Wing lengths of ringed birds: a factorisation over stations and species with sparse embeddings."""
import time

import torch
import torch.nn as nn

STATIONS, SPECIES, RANK = 40, 24, 6


class WingModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.station = nn.Embedding(STATIONS, RANK, sparse=True)
        self.species = nn.Embedding(SPECIES, RANK, sparse=True)
        self.mix = nn.Sequential(nn.Linear(RANK + 2, 16), nn.ReLU(), nn.Linear(16, 1))
        for table in (self.station, self.species):
            nn.init.normal_(table.weight, std=0.5)

    def forward(self, station, species, age_sex):
        inner = self.station(station) * self.species(species)
        return self.mix(torch.cat([inner, age_sex], 1)).squeeze(1)


def ringing_book(rows, gen):
    a = torch.randn(STATIONS, 3, generator=torch.Generator().manual_seed(1))
    b = torch.randn(SPECIES, 3, generator=torch.Generator().manual_seed(2))
    station = torch.randint(STATIONS, (rows,), generator=gen)
    species = torch.randint(SPECIES, (rows,), generator=gen)
    extra = (torch.rand(rows, 2, generator=gen) > 0.5).float()
    wing = (a[station] * b[species]).sum(1) + extra @ torch.tensor([0.4, -0.7])
    return station, species, extra, wing + 0.2 * torch.randn(rows, generator=gen)


def optimizers(net, lr):
    sparse = [net.station.weight, net.species.weight]
    opt_ids = torch.optim.SparseAdam(sparse, lr=lr)  # expect: place
    opt_dense = torch.optim.AdamW(net.mix.parameters(), lr=lr, weight_decay=1e-3)
    return opt_ids, opt_dense


def rmse(net, book):
    *inputs, wing = book
    with torch.inference_mode():
        return (net(*inputs) - wing).pow(2).mean().sqrt().item()


def train(net, book, held, epochs=6, batch=64, lr=0.02):
    opt_ids, opt_dense = optimizers(net, lr)  # expect: place
    schedule = torch.optim.lr_scheduler.ExponentialLR(opt_dense, gamma=0.8)
    rows = len(book[0])
    best = {"rmse": float("inf")}
    for epoch in range(epochs):
        began, total = time.perf_counter(), 0.0
        for chosen in torch.randperm(rows).split(batch):
            *inputs, wing = (column[chosen] for column in book)
            opt_dense.zero_grad()  # expect: place
            loss = nn.functional.huber_loss(net(*inputs), wing)
            loss.backward()  # expect: place
            opt_dense.step()
            opt_ids.step()  # expect: place
            total += loss.item() * len(chosen)
        schedule.step()
        score = rmse(net, held)
        if score < best["rmse"]:
            best = {"rmse": score, "epoch": epoch,
                    "weights": {k: v.clone() for k, v in net.state_dict().items()}}
        rate = rows / (time.perf_counter() - began)
        print(f"epoch {epoch}: huber {total / rows:.4f}, held-out rmse {score:.4f} ({rate:.0f} rows/s)")
    return best


def main():
    torch.manual_seed(77)
    gen = torch.Generator().manual_seed(3)
    net = WingModel()
    best = train(net, ringing_book(1536, gen), ringing_book(500, gen))
    net.load_state_dict(best["weights"])
    print(f"kept epoch {best['epoch']} at {best['rmse']:.4f}")


if __name__ == "__main__":
    main()
