# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = sim
import torch
import torch.nn as nn
import torch.nn.functional as F


def nt_xent(z, temperature=0.5):
    n = z.size(0) // 2
    sim = torch.exp(F.normalize(z, dim=1) @ F.normalize(z, dim=1).t() / temperature)  # expect: place
    sim[range(2 * n), range(2 * n)] = 0  # expect: place
    pos = torch.cat([sim.diagonal(n), sim.diagonal(-n)])
    return -(pos / sim.sum(1)).log().mean()


def make_views(x):
    noise = lambda: 0.05 * torch.randn_like(x)
    return torch.cat([x + noise(), x + noise()])


def pretrain(encoder, data, epochs, batch):
    opt = torch.optim.Adam(encoder.parameters(), lr=3e-4)
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(data)).split(batch):
            loss = nt_xent(encoder(make_views(data[idx])))
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(epoch, sum(losses) / len(losses))


torch.manual_seed(0)
pretrain(nn.Sequential(nn.Linear(9, 32), nn.ReLU(True), nn.Linear(32, 8)), torch.randn(32, 9), 2, 16)
