"""Assay offices from worn hallmarks: two small nets teach each other (mutual learning).

Each net has its own view and its own optimizer, and is drawn to the labels and to its peer.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

OFFICES = 5
SIDE = 8


def punches(n, seed):
    g = torch.Generator().manual_seed(seed)
    dies = (torch.rand(OFFICES, SIDE, SIDE, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    office = torch.randint(OFFICES, (n,), generator=g)
    wear = 0.5 + torch.rand(n, 1, 1, generator=g)
    marks = dies[office] * wear + 0.7 * torch.randn(n, SIDE, SIDE, generator=g)
    return marks.unsqueeze(1), office


def slim():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
                         nn.Flatten(), nn.Linear(128, OFFICES))


def broad():
    return nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 40), nn.ReLU(),
                         nn.Linear(40, OFFICES))


def agreement(mine, other, temperature):
    p = F.softmax(other.detach() / temperature, dim=1)
    return F.kl_div(F.log_softmax(mine / temperature, dim=1), p, reduction="batchmean")


class Mutual:
    def __init__(self, peers, lrs, temperature=2.0, pull=0.8):
        self.peers = peers
        self.optimizers = [torch.optim.SGD(p.parameters(), lr=lr, momentum=0.9)
                           for p, lr in zip(peers, lrs)]
        self.temperature, self.pull = temperature, pull

    def losses_of(self, marks, office):
        logits = [peer(marks) for peer in self.peers]
        losses = []
        for i, own in enumerate(logits):
            loss = F.cross_entropy(own, office)
            for j, other in enumerate(logits):
                if i != j:
                    loss = loss + self.pull * agreement(own, other, self.temperature)
            losses.append(loss)
        return losses

    def step(self, marks, office):
        losses = self.losses_of(marks, office)
        for loss, optimizer in zip(losses, self.optimizers):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [loss.item() for loss in losses]


def accuracy(peer, marks, office):
    peer.eval()
    with torch.no_grad():
        right = (peer(marks).argmax(1) == office).float().mean().item()
    peer.train()
    return right


def main():
    torch.manual_seed(12)
    marks, office = punches(480, 1)
    test = punches(300, 2)
    mutual = Mutual([slim(), broad()], lrs=[0.05, 0.03])
    for epoch in range(5):
        for rows in torch.randperm(len(marks)).split(48):
            latest = mutual.step(marks[rows], office[rows])
        scores = [accuracy(peer, *test) for peer in mutual.peers]
        print(f"{epoch}: last losses {latest[0]:.3f} {latest[1]:.3f}, "
              f"slim {scores[0]:.1%} broad {scores[1]:.1%}")


main()
