"""Re-identify ants along a trail: detections of a frame against the tracks known so far."""
import torch
from torch.nn import functional as F

from model import AntEmbedder
from tracks import Gallery
from video import clip


def association_loss(model, features, idents, gallery):
    known, bank = gallery.features()
    column = {ident: j for j, ident in enumerate(known)}
    rows = [i for i, ident in enumerate(idents.tolist()) if ident in column]
    target = torch.tensor([column[int(idents[i])] for i in rows])
    return F.cross_entropy(model.affinity(features[rows], bank), target)


def main():
    torch.manual_seed(40)
    model = AntEmbedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    gallery = Gallery()
    for n, seed in enumerate((3, 14)):
        gallery.reset()
        losses = []
        for crops, boxes, idents in clip(n_ants=5, n_frames=6, seed=seed):
            features = model(crops, boxes)
            if gallery.tracks:
                loss = association_loss(model, features, idents, gallery)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            gallery.absorb(features.detach(), boxes, idents)
        print(f"clip {n}: association loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
