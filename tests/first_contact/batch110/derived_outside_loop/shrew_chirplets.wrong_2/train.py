"""Which shrew species squeaked? A learnable bank of chirplets in front of a linear classifier."""
import torch
from torch import nn

from frontend import ChirpletBank
from squeaks import squeaks, SPECIES


class Classifier(nn.Module):
    def __init__(self, filters=12):
        super().__init__()
        self.front = ChirpletBank(filters)
        self.norm = nn.BatchNorm1d(filters)
        self.head = nn.Linear(filters, SPECIES)

    def forward(self, wave):
        return self.head(self.norm(self.front(wave)))


def confusion(model, wave, species):
    model.eval()
    with torch.no_grad():
        said = model(wave).argmax(1)
    model.train()
    return (said == species).float().mean().item()


def main():
    torch.manual_seed(15)
    model = Classifier()
    groups = [{"params": model.front.parameters(), "lr": 5e-3},
              {"params": [*model.norm.parameters(), *model.head.parameters()]}]
    opt = torch.optim.Adam(groups, lr=2e-2)
    wave, species = squeaks(300, 1)
    held = squeaks(150, 2)
    for epoch in range(4):
        for rows in torch.randperm(len(wave)).split(50):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(wave[rows]), species[rows])
            loss.backward(retain_graph=True)
            opt.step()
        centres = model.front.centre.detach().sort().values
        print(f"{epoch}: loss {loss.item():.3f}, held-out {confusion(model, *held):.2f}, "
              f"bands {centres[0]:.3f} to {centres[-1]:.3f}")


if __name__ == "__main__":
    main()
