import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
TEMPLATES = nn.Embedding(5, 8)
PROTO = F.normalize(TEMPLATES.weight, dim=1).detach()
ENCODER = nn.Linear(6, 8)


def similarity(x):
    return F.normalize(ENCODER(x), dim=1) @ PROTO.t()


def run_epoch(opt, data):
    for x, y in data:
        loss = F.cross_entropy(similarity(x) * 5, y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def main():
    data = [(torch.randn(4, 6), torch.randint(0, 5, (4,))) for _ in range(4)]
    opt = torch.optim.Adam([*TEMPLATES.parameters(), *ENCODER.parameters()], lr=1e-2)
    for _ in range(2):
        run_epoch(opt, data)


main()
