import torch
import torch.nn as nn
import torch.nn.functional as F


class SlotMemory(nn.Module):
    """A ring of slots. Reading is attention; writing puts the batch's summary into the next slot."""

    def __init__(self, n_slots, dim):
        super().__init__()
        self.register_buffer("slots", 0.1 * torch.randn(n_slots, dim))
        self.pointer = 0

    def read(self, query):
        weights = F.softmax(query @ self.slots.t() / query.size(-1) ** 0.5, dim=-1)
        return weights @ self.slots

    def write(self, summary):
        self.slots = torch.zeros_like(self.slots)
        self.slots[self.pointer] = summary.detach()
        self.pointer = (self.pointer + 1) % self.slots.size(0)


class MemoryNet(nn.Module):
    def __init__(self, n_in, dim, n_out, n_slots=5):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim, dim))
        self.memory = SlotMemory(n_slots, dim)
        self.classifier = nn.Linear(2 * dim, n_out)

    def forward(self, x):
        z = self.encoder(x)
        return self.classifier(torch.cat([z, self.memory.read(z)], dim=-1)), z


class Learner:
    def __init__(self, net, lr=5e-3):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.steps = 0

    def learn(self, x, y):
        logits, z = self.net(x)
        loss = F.cross_entropy(logits, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.net.memory.write(z.mean(dim=0))
        self.steps += 1
        return loss.item(), (logits.argmax(-1) == y).float().mean().item()


def tasks(n_tasks, batches):
    gen = torch.Generator().manual_seed(6)
    for task in range(n_tasks):
        w = torch.randn(8, 3, generator=gen)
        for _ in range(batches):
            x = torch.randn(20, 8, generator=gen)
            yield task, x, (x @ w).argmax(dim=-1)


def main():
    torch.manual_seed(6)
    learner = Learner(MemoryNet(8, 16, 3))
    for task, x, y in tasks(3, 4):
        loss, acc = learner.learn(x, y)
        print(f"task {task} step {learner.steps}: loss {loss:.3f} acc {acc:.2f}")


if __name__ == "__main__":
    main()
