"""Estimate parcel weights from camera profiles; the scanner's memory only takes eight at a time."""

import torch
from torch import nn

CHUNK = 8
PER_UPDATE = 4


class Scales(nn.Module):
    def __init__(self, profile=15):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(profile, 20), nn.ELU(), nn.Linear(20, 1))
        self.register_buffer("typical", torch.zeros(()))

    def forward(self, profiles):
        return self.net(profiles).squeeze(1) + self.typical


class Updater:
    """Collects gradients of several chunks, then makes one step of them."""

    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.waiting = 0
        self.steps = 0

    def feed(self, loss, share):
        (loss * share).backward()
        self.waiting += 1
        if self.waiting == PER_UPDATE:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.waiting = 0
        self.steps += 1


def depot(count):
    profiles = torch.rand(count, 15)
    kilos = profiles[:, :5].sum(dim=1) * profiles[:, 7] + 0.5
    return profiles, kilos


def share_of(chunks, index, rows):
    """What part of its update a chunk makes up; the last update of a day may be a small one."""
    first = index - index % PER_UPDATE
    return len(rows) / sum(len(chunk) for chunk in chunks[first : first + PER_UPDATE])


def day(updater, profiles, kilos):
    model = updater.model
    total = torch.zeros(())
    chunks = torch.randperm(len(profiles)).split(CHUNK)
    for index, rows in enumerate(chunks):
        guess = model(profiles[rows])
        loss = nn.functional.smooth_l1_loss(guess, kilos[rows])
        updater.feed(loss, share_of(chunks, index, rows))
        total += loss.detach() * len(rows)
    updater.flush()
    return total / len(profiles)


def main():
    torch.manual_seed(43)
    profiles, kilos = depot(76)
    model = Scales()
    model.typical = kilos.mean()
    updater = Updater(model, lr=0.1)
    history = []
    for number in range(4):
        history.append(day(updater, profiles, kilos))
        print(f"day {number}: {history[-1]:.4f} after {updater.steps} updates")


if __name__ == "__main__":
    main()
