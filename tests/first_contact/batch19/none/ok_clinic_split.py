"""Split learning between two clinics and a server: raw measurements stay at the clinic."""
import torch
from torch import nn


class Clinic:
    """Holds patients and the lower half of the network."""

    def __init__(self, name, patients, features, width, lr):
        self.name = name
        self.x = patients[:, :features]
        self.net = nn.Sequential(nn.Linear(features, width), nn.ReLU())
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.pending = None

    def send(self, idx):
        out = self.net(self.x[idx])
        self.pending = out
        return out.detach().requires_grad_()

    def receive(self, grad):
        self.opt.zero_grad()
        self.pending.backward(grad)
        self.pending = None
        self.opt.step()


class Server:
    """Holds the labels and the upper half."""

    def __init__(self, labels, width, lr):
        self.labels = labels
        self.net = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.loss = nn.BCEWithLogitsLoss()

    def learn(self, idx, parts):
        logit = self.net(torch.cat(parts, dim=1)).squeeze(1)
        loss = self.loss(logit, self.labels[idx])
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        right = ((logit > 0).float() == self.labels[idx]).float().mean()
        return loss.item(), right.item(), [p.grad.clone() for p in parts]


class Federation:
    def __init__(self, clinics, server):
        self.clinics, self.server = clinics, server

    def round(self, batch):
        n = len(self.server.labels)
        losses, rights = [], []
        for idx in torch.randperm(n).split(batch):
            parts = [clinic.send(idx) for clinic in self.clinics]
            loss, right, grads = self.server.learn(idx, parts)
            for clinic, grad in zip(self.clinics, grads):
                clinic.receive(grad)
            losses.append(loss)
            rights.append(right)
        return sum(losses) / len(losses), sum(rights) / len(rights)


def main():
    torch.manual_seed(29)
    blood, scan = torch.randn(120, 6), torch.randn(120, 4)
    ill = ((blood[:, 0] - scan[:, 1] * scan[:, 2]) > 0.2).float()
    clinics = [Clinic("blood", blood, 6, 12, 1e-2), Clinic("scan", scan, 4, 12, 1e-2)]
    federation = Federation(clinics, Server(ill, 12, 1e-2))
    for r in range(5):
        loss, right = federation.round(batch=30)
        print(f"round {r}: loss {loss:.3f}, right {right:.2f}")


if __name__ == "__main__":
    main()
