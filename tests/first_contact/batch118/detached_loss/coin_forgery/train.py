# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = before
"""A forger of coin relief profiles against an appraiser, in turns."""

import torch
import torch.nn.functional as F

from freeze import held_still
from players import Appraiser, Forger, mint


class Match:
    def __init__(self, noise: int = 6, lr: float = 2e-3) -> None:
        self.noise = noise
        self.forger = Forger(noise)
        self.appraiser = Appraiser()
        self.forger_opt = torch.optim.Adam(self.forger.parameters(), lr=lr, betas=(0.5, 0.99))
        self.appraiser_opt = torch.optim.Adam(self.appraiser.parameters(), lr=lr, betas=(0.5, 0.99))

    def appraise(self, genuine: torch.Tensor) -> float:
        noise = torch.randn(len(genuine), self.noise)
        with held_still(self.forger):  # expect: place
            forged = self.forger(noise)
        loss = F.softplus(-self.appraiser(genuine)).mean() + F.softplus(self.appraiser(forged)).mean()
        self.appraiser_opt.zero_grad()
        loss.backward()
        self.appraiser_opt.step()
        return loss.item()

    def forge(self, count: int) -> float:
        noise = torch.randn(count, self.noise)
        with held_still(self.appraiser):
            loss = F.softplus(-self.appraiser(self.forger(noise))).mean()
            self.forger_opt.zero_grad()
            loss.backward()  # expect: place
        self.forger_opt.step()
        return loss.item()


def main() -> None:
    torch.manual_seed(6)
    match = Match()
    coins = mint(96)
    for turn in range(5):
        rows = torch.randperm(len(coins))[:32]
        seen = match.appraise(coins[rows])
        fooled = match.forge(32)
        print(f"turn {turn}: appraiser {seen:.4f}, forger {fooled:.4f}")


if __name__ == "__main__":
    main()
