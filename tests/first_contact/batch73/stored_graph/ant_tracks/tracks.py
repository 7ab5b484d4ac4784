"""Identities that live from frame to frame."""
import torch


class Track:
    def __init__(self, ident, feature, box):
        self.ident = ident
        self.feature = feature  # expect: place
        self.box = box
        self.misses = 0

    def update(self, feature, box, momentum):
        blended = momentum * self.feature + (1 - momentum) * feature
        self.feature = blended / blended.norm()  # expect: place
        self.box = box
        self.misses = 0


class Gallery:
    def __init__(self, momentum=0.8, patience=3):
        self.momentum, self.patience = momentum, patience
        self.tracks = {}

    def reset(self):
        self.tracks.clear()

    def features(self):
        idents = sorted(self.tracks)
        return idents, torch.stack([self.tracks[i].feature for i in idents])

    def absorb(self, features, boxes, idents):
        seen = set()
        for feature, box, ident in zip(features, boxes, idents.tolist()):  # expect: place
            if ident in self.tracks:
                self.tracks[ident].update(feature, box, self.momentum)  # expect: place
            else:
                self.tracks[ident] = Track(ident, feature, box)  # expect: place
            seen.add(ident)
        for ident in [i for i in self.tracks if i not in seen]:
            self.tracks[ident].misses += 1
            if self.tracks[ident].misses > self.patience:
                del self.tracks[ident]
