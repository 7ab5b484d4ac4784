"""Which valves should the taxonomist look at next? Active learning on diatom outlines."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

GENERA = ("Navicula", "Gomphonema", "Cymbella", "Fragilaria")


def outlines(n, points=24):
    """Radii of a valve's outline around its centre, a genus each with its own harmonics."""
    genus = torch.randint(len(GENERA), (n,))
    angle = torch.linspace(0, 6.2832, points + 1)[:-1]
    waves = torch.stack([torch.cos(2 * angle), torch.cos(angle), torch.sin(3 * angle), torch.cos(4 * angle)])
    radii = 1 + 0.4 * waves[genus] + 0.25 * torch.randn(n, points)
    return radii, genus


@dataclass
class Tray:
    """Everything that has a name by now, in the order in which it was named."""

    vectors: list = field(default_factory=list)
    genera: list = field(default_factory=list)

    def put(self, vectors, genera):
        self.vectors.append(vectors)
        self.genera.append(genera)

    def contents(self):
        return self.vectors[-1], self.genera[-1]

    def __len__(self):
        return sum(len(g) for g in self.genera)


class Survey:
    def __init__(self, valves, truth, per_round=6):
        self.valves, self._truth = valves, truth
        self.per_round = per_round
        self.unnamed = torch.arange(len(valves))
        self.tray = Tray()
        self.encoder = nn.Sequential(nn.Linear(valves.shape[1], 32), nn.Tanh(), nn.Linear(32, 12))
        self.head = nn.Linear(12, len(GENERA))
        weights = [*self.encoder.parameters(), *self.head.parameters()]
        self.opt = torch.optim.Adam(weights, lr=0.03)

    def taxonomist(self, ids):
        return self._truth[ids]

    def ask(self):
        """Embed what has no name yet, and hand the most doubtful to the taxonomist."""
        vectors = self.encoder(self.valves[self.unnamed])
        log_p = F.log_softmax(self.head(vectors), dim=-1)
        doubt = -(log_p.exp() * log_p).sum(-1)
        chosen = doubt.topk(self.per_round).indices
        ids = self.unnamed[chosen]
        self.tray.put(vectors[chosen], self.taxonomist(ids))
        rest = torch.ones(len(self.unnamed), dtype=torch.bool)
        rest[chosen] = False
        self.unnamed = self.unnamed[rest]
        return doubt.mean().item()

    def study(self):
        """One step on all that has been named so far."""
        vectors, genera = self.tray.contents()
        loss = F.cross_entropy(self.head(vectors), genera)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def score(self, valves, truth):
        guess = self.head(self.encoder(valves)).argmax(-1)
        right = guess == truth
        return {name: right[truth == g].float().mean().item() for g, name in enumerate(GENERA)}


if __name__ == "__main__":
    torch.manual_seed(77)
    survey = Survey(*outlines(240))
    herbarium = outlines(80)
    for round_no in range(1, 31):
        doubt = survey.ask()
        loss = survey.study()
        if round_no % 6 == 0:
            by_genus = survey.score(*herbarium)
            worst = min(by_genus, key=by_genus.get)
            print(f"{len(survey.tray):4d} named  doubt {doubt:.3f}  loss {loss:.3f}  "
                  f"worst {worst} {by_genus[worst]:.2f}")
