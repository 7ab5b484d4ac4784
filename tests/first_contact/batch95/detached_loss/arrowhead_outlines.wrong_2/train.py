"""Shape space of arrowheads: an auto-decoder, with a code learned for each piece of the drawer."""
import time

import torch
from torch import nn

from decoder import Decoder, outline_loss
from outlines import drawer

CODE, SIGMA = 6, 20.0


class ShapeSpace:
    def __init__(self, n_pieces, lr=6e-3):
        self.decoder = Decoder(CODE)
        self.codes = nn.Embedding(n_pieces, CODE)
        nn.init.normal_(self.codes.weight, std=0.1)
        self.optimizer = torch.optim.Adam([
            {"params": self.decoder.parameters(), "lr": lr},
            {"params": self.codes.parameters(), "lr": 3 * lr},
        ])
        self.book = {"train": [], "valid": []}

    def fit_codes(self, points, distance, steps=15):
        """Codes of pieces that the space has not seen, the decoder as it stands."""
        codes = torch.zeros(len(points), CODE, requires_grad=True)
        optimizer = torch.optim.Adam([codes], lr=0.05)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = outline_loss(self.decoder, codes, points, distance, SIGMA)
            with torch.enable_grad():
                loss.backward()
            optimizer.step()
        return codes.detach()

    def run_phase(self, phase, pieces, batch=12):
        training = phase == "train"
        self.decoder.train(training)
        points, distance = pieces
        order = torch.randperm(len(points)) if training else torch.arange(len(points))
        total = 0.0
        with torch.set_grad_enabled(training):
            for which in order.split(batch):
                pts, dist = points[which], distance[which]
                if training:
                    codes = self.codes(which)
                else:
                    codes = self.fit_codes(pts[:, ::2], dist[:, ::2])
                    pts, dist = pts[:, 1::2], dist[:, 1::2]
                loss = outline_loss(self.decoder, codes, pts, dist, SIGMA)
                if training:
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                total += loss.item() * len(which)
        self.book[phase].append(total / len(points))


def main():
    torch.manual_seed(64)
    digger = torch.Generator().manual_seed(3)
    drawers = {"train": drawer(48, 60, digger), "valid": drawer(16, 80, digger)}
    space = ShapeSpace(48)
    began = time.time()
    for epoch in range(15):
        space.run_phase("train", drawers["train"])
        if epoch % 5 == 4:
            space.run_phase("valid", drawers["valid"])
            print(f"epoch {epoch + 1}  " + "  ".join(f"{phase} {rows[-1]:.4f}" for phase, rows in space.book.items()))
    spread = space.codes.weight.detach().std(0)
    print("spread of the codes", [round(s, 3) for s in spread.tolist()], "in", int(time.time() - began), "s")


if __name__ == "__main__":
    main()
