# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = nodes, h, terms, term
"""Where fungi carry phosphorus: cords of a mycelium as a graph, two things told about it."""
import torch

from net import Mycelium
from objectives import OBJECTIVES
from plates import random_plate

WEIGHTS = {"stored": 1.0, "flow": 0.5}


class Trainer:
    def __init__(self, model, lr=5e-3, clip=5.0):
        self.model = model
        self.clip = clip
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.log = []

    def evaluate_terms(self, plate):
        nodes = self.model.encode(plate)  # expect: place
        return {name: objective(self.model, nodes, plate) for name, objective in OBJECTIVES.items()}  # expect: place

    def step(self, plate):
        self.model.train()
        self.optimizer.zero_grad()
        terms = self.evaluate_terms(plate)
        for name, term in terms.items():
            (WEIGHTS[name] * term).backward()  # expect: place
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.log.append({name: term.item() for name, term in terms.items()})

    @torch.no_grad()
    def validate(self, plates):
        self.model.eval()
        sums = dict.fromkeys(OBJECTIVES, 0.0)
        for plate in plates:
            for name, term in self.evaluate_terms(plate).items():
                sums[name] += term.item() / len(plates)
        return sums


def main():
    torch.manual_seed(31)
    plates = [random_plate(14, 30) for _ in range(12)]
    trainer = Trainer(Mycelium(4, 2, 16, rounds=3))
    for epoch in range(3):
        for plate in plates[:9]:
            trainer.step(plate)
        scores = trainer.validate(plates[9:])
        print(epoch, "  ".join(f"{name} {value:.4f}" for name, value in scores.items()))


if __name__ == "__main__":
    main()
