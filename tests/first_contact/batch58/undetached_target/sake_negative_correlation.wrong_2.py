"""Alcohol and acidity of a sake mash from daily readings: an ensemble by negative correlation learning.

Every member is paid for being right and for being right in another way than the rest. In the rule of
the method the consensus is given: a member moves only its own distance from it.
"""
import torch
from torch import nn

CONFIG = {
    "members": {"koji": ("tanh", 12), "moto": ("relu", 20), "moromi": ("silu", 16)},
    "readings": 7,
    "penalty": 0.35,
    "lr": 8e-3,
    "days": 40,
}
ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU, "silu": nn.SiLU}


def brewers(config):
    guild = {}
    for name, (act, width) in config["members"].items():
        guild[name] = nn.Sequential(
            nn.Linear(config["readings"], width), ACTIVATIONS[act](), nn.Linear(width, 2)
        )
    return guild


class Guild:
    def __init__(self, config):
        self.config = config
        self.members = brewers(config)
        self.opts = {
            name: torch.optim.Adam(member.parameters(), lr=config["lr"])
            for name, member in self.members.items()
        }

    def say(self, mash):
        return {name: member(mash) for name, member in self.members.items()}

    def dissent(self, said):
        """How far each member stands from the consensus of all."""
        consensus = torch.stack(list(said.values())).mean(dim=0)
        return {name: (out - consensus).detach().square().mean() for name, out in said.items()}

    def learn(self, mash, truth):
        said = self.say(mash)
        apart = self.dissent(said)
        errors = {}
        for name, out in said.items():
            error = (out - truth).square().mean()
            loss = error - self.config["penalty"] * apart[name]
            self.opts[name].zero_grad()
            loss.backward()
            self.opts[name].step()
            errors[name] = error.item()
        return errors

    @torch.no_grad()
    def spread(self, mash):
        return torch.stack(list(self.say(mash).values())).std(dim=0).mean().item()


def readings(rule, n=32):
    mash = torch.randn(n, rule.shape[0])
    return mash, torch.sin(mash @ rule) + 0.05 * torch.randn(n, rule.shape[1])


def main():
    torch.manual_seed(311)
    rule = 0.5 * torch.randn(CONFIG["readings"], 2)
    guild = Guild(CONFIG)
    probe, _ = readings(rule, 64)
    for day in range(CONFIG["days"]):
        errors = guild.learn(*readings(rule))
        if day % 8 == 7:
            row = "  ".join(f"{name} {e:.3f}" for name, e in errors.items())
            print(f"day {day + 1:2d}  {row}  spread {guild.spread(probe):.3f}")


if __name__ == "__main__":
    main()
