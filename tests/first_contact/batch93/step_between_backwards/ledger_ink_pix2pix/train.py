# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = loss_g, g_adv, critic, fake, opt_d
"""pix2pix against bleed-through in parish ledgers."""
from collections import defaultdict

import torch

from nets import Cleaner, PatchCritic, init_weights
from objectives import both_losses
from scans import make_scans

EPOCHS, BATCH, LR, BETAS = 3, 8, 2e-3, (0.5, 0.999)


class Log:
    def __init__(self):
        self.sums, self.n = defaultdict(float), 0

    def add(self, terms):
        for name, value in terms.items():
            self.sums[name] += value.item()
        self.n += 1

    def __str__(self):
        return "  ".join(f"{name} {total / self.n:.3f}" for name, total in self.sums.items())


def psnr(cleaner, page, clean):
    cleaner.eval()
    with torch.no_grad():
        mse = ((cleaner(page) - clean) ** 2).mean()
    cleaner.train()
    return (10 * torch.log10(4 / mse)).item()


torch.manual_seed(73)
pages, cleans = make_scans(40)
cleaner, critic = Cleaner().apply(init_weights), PatchCritic().apply(init_weights)
opt_g = torch.optim.Adam(cleaner.parameters(), lr=LR, betas=BETAS)
opt_d = torch.optim.Adam(critic.parameters(), lr=LR, betas=BETAS)
anneal = [torch.optim.lr_scheduler.LambdaLR(o, lambda e: 1 - 0.3 * e) for o in (opt_g, opt_d)]

print("psnr before", round(psnr(cleaner, pages[32:], cleans[32:]), 2))
for epoch in range(EPOCHS):
    log = Log()
    for index in torch.randperm(32).split(BATCH):
        loss_d, loss_g, terms = both_losses(cleaner, critic, pages[index], cleans[index])  # expect: place

        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()  # expect: place

        opt_g.zero_grad()
        loss_g.backward()  # expect: place
        opt_g.step()
        log.add(terms)
    for schedule in anneal:
        schedule.step()
    print(f"[{epoch + 1}/{EPOCHS}] {log}  psnr {psnr(cleaner, pages[32:], cleans[32:]):.2f}")
