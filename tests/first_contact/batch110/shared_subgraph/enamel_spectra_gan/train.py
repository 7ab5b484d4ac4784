# expect: pattern = shared-subgraph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fake, on_fake, d_loss, g_loss
"""More reflectance spectra of enamels than the museum has: a small GAN to fill up the library."""
import torch

from spectra import library, BANDS
from trainer import GanTrainer


def main():
    torch.manual_seed(6)
    measured = library(256)
    trainer = GanTrainer(noise=6, bands=BANDS)
    for epoch in range(10):
        for rows in torch.randperm(len(measured)).split(32):
            logs = trainer.train_batch(measured[rows])
        sample = trainer.sample(100)
        gap = (sample.mean(0) - measured.mean(0)).abs().mean().item()
        print(f"epoch {epoch}: " + ", ".join(f"{k} {v:.3f}" for k, v in logs.items()) + f", mean gap {gap:.4f}")


if __name__ == "__main__":
    main()
