"""Reservoir of earlier cuts: every cut ever seen has the same chance to be in it."""
import random

import torch


class Reservoir:
    def __init__(self, room, seed=0):
        self.room = room
        self.rng = random.Random(seed)
        self.cuts, self.answers, self.labels = [], [], []
        self.offered = 0

    def __len__(self):
        return len(self.cuts)

    def offer(self, cuts, answers, labels):
        for cut, answer, label in zip(cuts, answers, labels.tolist()):
            self.offered += 1
            if len(self.cuts) < self.room:
                self.cuts.append(cut)
                self.answers.append(answer)
                self.labels.append(label)
                continue
            seat = self.rng.randrange(self.offered)
            if seat < self.room:
                self.cuts[seat], self.answers[seat], self.labels[seat] = cut, answer, label

    def draw(self, count):
        seats = self.rng.sample(range(len(self)), min(count, len(self)))
        return (torch.stack([self.cuts[s] for s in seats]),
                torch.stack([self.answers[s] for s in seats]),
                torch.tensor([self.labels[s] for s in seats]))

    def census(self):
        return [self.labels.count(k) for k in sorted(set(self.labels))]
