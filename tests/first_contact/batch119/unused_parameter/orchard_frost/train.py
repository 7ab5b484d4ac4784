# expect: pattern = unused-parameter
# expect: raises = nothing
# expect: carrier = site, context
"""Night minimum in orchards from the evening before, adjusted to the lie of each site."""

import torch
import torch.nn.functional as F

from evenings import evenings
from network import FrostNet


def run(steps=40):
    torch.manual_seed(3)
    net = FrostNet(readings=8, traits=3)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step, (reading, trait, minimum) in enumerate(evenings(steps)):
        loss = F.mse_loss(net(reading, trait), minimum)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, round(loss.item(), 4))


if __name__ == "__main__":
    run()
