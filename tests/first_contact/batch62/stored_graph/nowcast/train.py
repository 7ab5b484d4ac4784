# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = _shelf, fields, replay, state
import argparse

import torch

from atmosphere import VARIABLES, Archive
from forecaster import SixHourStep
from replay import ForecastReplay


class Campaign:
    """Curriculum of short rollouts; half of every batch starts from archived forecasts."""

    def __init__(self, args):
        self.args = args
        self.archive = Archive()
        self.net = SixHourStep(len(VARIABLES))
        self.replay = ForecastReplay(seed=args.seed)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=3e-3)

    def starts(self):
        hours = torch.randint(len(self.archive), (self.args.batch,))
        state = self.archive.at(hours)
        if len(self.replay) < self.args.batch:
            return state, hours
        half = self.args.batch // 2
        again, again_hours = self.replay.draw(half)  # expect: place
        return torch.cat([state[half:], again]), torch.cat([hours[half:], again_hours])

    def skill(self, forecast, truth):
        return (self.archive.area * (forecast - truth).square()).mean()

    def train_once(self):
        state, hours = self.starts()
        losses = {}
        for lead in range(1, self.args.leads + 1):
            state = self.net(state)
            hours = hours + 1
            losses[f"+{6 * lead}h"] = self.skill(state, self.archive.at(hours))
            self.replay.extend(state, hours)  # expect: place
        self.opt.zero_grad()
        total = torch.stack(list(losses.values())).mean()
        total.backward()  # expect: place
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.opt.step()
        return {lead: loss.item() for lead, loss in losses.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=8)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--leads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args([])
    torch.manual_seed(args.seed)
    campaign = Campaign(args)
    for update in range(args.updates):
        scores = campaign.train_once()
        print(update, "  ".join(f"{lead} {mse:.4f}" for lead, mse in scores.items()))


if __name__ == "__main__":
    main()
