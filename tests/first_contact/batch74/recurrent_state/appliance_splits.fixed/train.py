"""Tell how much the fridge takes from what the whole house takes."""
import torch

from loop import SplitLoop
from model import Disaggregator


def make_houses(count, minutes, generator):
    fridge = (torch.rand(count, minutes, 1, generator=generator) > 0.4).float() * 0.12
    kettle = (torch.rand(count, minutes, 1, generator=generator) > 0.93).float() * 2.0
    base = 0.2 + 0.05 * torch.randn(count, minutes, 1, generator=generator)
    return fridge + kettle + base, fridge * 5


torch.manual_seed(41)
generator = torch.Generator().manual_seed(7)
module = Disaggregator(width=12)
loop = SplitLoop(module, truncated_bptt_steps=15)
for day in range(4):
    batches = [make_houses(6, 60, generator) for _ in range(2)]
    print("day %d  mse %.4f" % (day, loop.run_epoch(batches)))
