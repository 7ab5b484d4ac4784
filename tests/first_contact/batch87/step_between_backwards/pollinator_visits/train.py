# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = bee_loss, affinity, flowers, plant_opt, plants
"""Which bees visit which plants: two towers on traits, trained in turns from transect counts."""
import argparse
import logging

import torch
import torch.nn.functional as F

from towers import Tower, affinity_table
from transects import walk_transects

log = logging.getLogger("pollinators")


def losses_of(plants, bees, walk):
    flowers = plants(walk.plant_traits)  # expect: place
    wings = bees(walk.bee_traits)
    affinity = affinity_table(flowers, wings)  # expect: place
    share = walk.visits / walk.visits.sum()
    by_plant = -(share * F.log_softmax(affinity, dim=1)).sum()
    by_bee = -(share * F.log_softmax(affinity, dim=0)).sum()  # expect: place
    return by_plant, by_bee


def agreement(plants, bees, walks):
    with torch.no_grad():
        hits = [(affinity_table(plants(w.plant_traits), bees(w.bee_traits)).argmax(1) == w.visits.argmax(1)).float().mean()
                for w in walks]
    return torch.stack(hits).mean().item()


def run(args):
    torch.manual_seed(args.seed)
    walks = walk_transects(args.walks)
    test = walk_transects(5)
    plants, bees = Tower(5, args.width, args.traits), Tower(6, args.width, args.traits)
    plant_opt = torch.optim.Adam(plants.parameters(), lr=args.lr)
    bee_opt = torch.optim.Adam(bees.parameters(), lr=args.lr)
    history = []
    for season in range(args.seasons):
        order = torch.randperm(len(walks)).tolist()
        for index in order:
            plant_loss, bee_loss = losses_of(plants, bees, walks[index])  # expect: place

            plant_opt.zero_grad()
            plant_loss.backward(retain_graph=True)  # expect: place
            plant_opt.step()  # expect: place

            bee_opt.zero_grad()
            bee_loss.backward()  # expect: place
            bee_opt.step()

            history.append((plant_loss.item(), bee_loss.item()))
        latest = history[-len(walks):]
        means = [sum(column) / len(latest) for column in zip(*latest)]
        log.info("season %d plant %.3f bee %.3f agree %.2f", season, *means, agreement(plants, bees, test))
    return history


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=10)
    parser.add_argument("--seasons", type=int, default=3)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--traits", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=12)
    run(parser.parse_args([]))
