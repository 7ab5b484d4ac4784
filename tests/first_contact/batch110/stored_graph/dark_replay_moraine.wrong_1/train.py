"""Moraine, ice or meltwater? Patches from a time-lapse camera, one season after the other."""
import torch

from learner import DarkLearner
from seasons import season, CLASSES, FEATURES


def hit_rate(learner, patches, labels):
    with torch.no_grad():
        return (learner.net(patches).argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(21)
    learner = DarkLearner(FEATURES, CLASSES, capacity=64, alpha=0.5)
    seen = []
    for number in range(3):
        patches, labels = season(number, 320)
        for rows in torch.randperm(len(patches)).split(32):
            latest = learner.observe(patches[rows], labels[rows])
        seen.append(season(number, 200, seed=50))
        rates = " ".join(f"{hit_rate(learner, *s):.2f}" for s in seen)
        print(f"after season {number}: loss {latest:.3f}, hit rates {rates}, memory {len(learner.memory)}")


if __name__ == "__main__":
    main()
