"""Grasshoppers of a meadow by their song; every summer the microphones hear species new to us.

The classifier grows by some outputs each summer. Old songs are rehearsed from a small archive, and
a slowly moving copy of the model is what is used in the field.
"""
import copy
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

BANDS = 24


class SongNet(nn.Module):
    def __init__(self, n_species, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(BANDS, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, n_species)

    def forward(self, spectra):
        return self.head(self.norm(self.trunk(spectra)))


class Learner:
    def __init__(self, n_species, lr=4e-3, decay=0.95):
        self.net = SongNet(n_species)
        self.lr = lr
        body = [*self.net.trunk.parameters(), *self.net.norm.parameters()]
        self.body_optimizer = torch.optim.AdamW(body, lr=lr, weight_decay=1e-3)
        self.head_optimizer = self.optimizer_of_head()
        self.decay = decay
        self.field = self.frozen_copy()
        self.archive = deque(maxlen=160)

    def optimizer_of_head(self):
        return torch.optim.Adam(self.net.head.parameters(), lr=2 * self.lr)

    def frozen_copy(self):
        return copy.deepcopy(self.net).requires_grad_(False).eval()

    def warm_start(self, state):
        """From the songs of a museum; the classes are others, so the head is not taken."""
        body = {key: value for key, value in state.items() if not key.startswith("head.")}
        missing, unexpected = self.net.load_state_dict(body, strict=False)
        assert not unexpected and all(key.startswith("head.") for key in missing)
        self.field = self.frozen_copy()

    def grow(self, n_new):
        old = self.net.head
        head = nn.Linear(old.in_features, old.out_features + n_new)
        with torch.no_grad():
            head.weight[: old.out_features] = old.weight
            head.bias[: old.out_features] = old.bias
            head.bias[old.out_features :] = old.bias.mean()
        self.net.head = head
        self.head_optimizer = self.optimizer_of_head()
        self.field = self.frozen_copy()

    def step(self, songs, species):
        if len(self.archive) >= 16:
            picked = torch.randint(len(self.archive), (16,)).tolist()
            old_songs, old_species = zip(*(self.archive[i] for i in picked))
            songs = torch.cat([songs, torch.stack(old_songs)])
            species = torch.cat([species, torch.stack(old_species)])
        loss = F.cross_entropy(self.net(songs), species, label_smoothing=0.05)
        self.body_optimizer.zero_grad()
        self.head_optimizer.zero_grad()
        loss.backward()
        self.body_optimizer.step()
        self.head_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.field.parameters(), self.net.parameters()):
                slow.lerp_(fast, 1 - self.decay)
        return loss.item()

    def remember(self, songs, species, n=40):
        for i in torch.randperm(len(songs))[:n]:
            self.archive.append((songs[i], species[i]))


def summer(voices, species, n):
    which = torch.tensor(species)[torch.randint(len(species), (n,))]
    loudness = 0.7 + 0.6 * torch.rand(n, 1)
    return loudness * voices[which] + 0.6 * torch.randn(n, BANDS), which


def museum_state(voices):
    """A model of recordings made with other microphones."""
    donor = Learner(4)
    for _ in range(20):
        donor.step(*summer(voices, range(4), 32))
    return donor.net.state_dict()


def main():
    torch.manual_seed(77)
    learner = Learner(3)
    learner.warm_start(museum_state(torch.randn(4, BANDS)))
    voices = torch.randn(9, BANDS)
    known = []
    for year, new in enumerate(([0, 1, 2], [3, 4], [5, 6, 7, 8]), start=2019):
        if known:
            learner.grow(len(new))
        known += new
        songs, species = summer(voices, new, 192)
        for _ in range(3):
            losses = [learner.step(songs[b], species[b]) for b in torch.randperm(192).split(24)]
        learner.remember(songs, species)
        heard, truth = summer(voices, known, 300)
        with torch.no_grad():
            right = (learner.field(heard).argmax(-1) == truth).float().mean()
        print(f"{year}: {len(known)} species, loss {losses[-1]:.3f}, field copy right in {100 * right:.0f} %")


if __name__ == "__main__":
    main()
