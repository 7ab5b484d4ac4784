# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = queues, emb
"""Reef fish identification: cross-entropy plus contrast against a class bank."""
import torch
import torch.nn.functional as F

from bank import ClassBank, bank_contrast
from encoder import CropEncoder, SpeciesHead

CFG = dict(species=5, batch=20, steps=40, lr=4e-3, contrast=0.5, warm=1, seed=71)


def reef_batches(cfg):
    gen = torch.Generator().manual_seed(cfg["seed"])
    looks = torch.randn(cfg["species"], 3, 16, 16, generator=gen)
    while True:
        labels = torch.randint(0, cfg["species"], (cfg["batch"],), generator=gen)
        water = torch.randn(cfg["batch"], 3, 16, 16, generator=gen)
        yield looks[labels] + 0.9 * water, labels


def run(cfg):
    torch.manual_seed(cfg["seed"])
    encoder = CropEncoder()
    head = SpeciesHead(16, cfg["species"])
    optim = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=cfg["lr"])
    bank = ClassBank(cfg["species"])

    for step, (crops, labels) in enumerate(reef_batches(cfg)):
        if step == cfg["steps"]:
            break
        emb = encoder(crops)
        loss = F.cross_entropy(head(emb), labels)
        if step >= cfg["warm"]:
            loss = loss + cfg["contrast"] * bank_contrast(emb, labels, bank)
        optim.zero_grad()
        loss.backward(retain_graph=True)  # expect: place
        optim.step()
        bank.push(emb, labels)
        if step % 8 == 0:
            print(f"step {step:3d}  loss {loss.item():.3f}  bank {len(bank)}")


if __name__ == "__main__":
    run(CFG)
