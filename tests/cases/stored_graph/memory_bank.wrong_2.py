# Instance discrimination with a memory bank of past embeddings.
import torch
import torch.nn as nn
import torch.nn.functional as F


class MemoryBank:
    def __init__(self, n, dim, momentum=0.5):
        self.bank = F.normalize(torch.randn(n, dim), dim=1)
        self.momentum = momentum

    def update(self, index, feats):
        bank = self.bank.clone()
        bank[index] = self.momentum * self.bank[index] + (1 - self.momentum) * feats
        self.bank = F.normalize(bank, dim=1)


def main():
    torch.manual_seed(0)
    images = torch.rand(24, 1, 6, 6)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(36, 16), nn.ReLU(), nn.Linear(16, 8))
    memory = MemoryBank(len(images), 8)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)
    for step in range(4):
        index = torch.randint(0, len(images), (8,)).unique()
        feats = F.normalize(encoder(images[index]), dim=1)
        logits = feats @ memory.bank.t() / 0.1
        loss = F.cross_entropy(logits, index)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        memory.update(index, feats)
        print(step, loss.item())


main()
