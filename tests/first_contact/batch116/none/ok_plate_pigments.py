"""Find the pigment layers that give a scanned print its colours.

The layers are optimised directly; laying them on the paper works on the sheet in place,
one pigment after the other, so that a thousand layers would need no more memory than one.
"""

import torch
from torch import Tensor, nn

# transmission of a full layer of each pigment in red, green and blue
PIGMENTS = torch.tensor([[0.1, 0.5, 0.7], [0.7, 0.1, 0.4], [0.9, 0.8, 0.1], [0.2, 0.2, 0.2]])
MEAN = torch.tensor([0.62, 0.58, 0.51])
SPREAD = torch.tensor([0.21, 0.22, 0.24])


def lay(sheet: Tensor, layer: Tensor, pigment: Tensor) -> None:
    for channel, absorbed in enumerate(1 - pigment):
        sheet[channel] -= absorbed * layer


def normalised_(image: Tensor) -> Tensor:
    for channel, (mean, spread) in enumerate(zip(MEAN, SPREAD, strict=True)):
        image[channel].sub_(mean).div_(spread)
    return image


class Print(nn.Module):
    def __init__(self, height: int, width: int, paper: float = 0.97) -> None:
        super().__init__()
        self.paper = nn.Parameter(torch.full((3, 1, 1), paper))
        self.raw = nn.Parameter(torch.full((len(PIGMENTS), height, width), -2.0))

    def layers(self) -> Tensor:
        return torch.sigmoid(self.raw)

    def forward(self) -> Tensor:
        sheet = self.paper.expand(-1, *self.raw.shape[1:]).clone()
        for layer, pigment in zip(self.layers(), PIGMENTS, strict=True):
            lay(sheet, layer, pigment)
        return sheet


def roughness(layers: Tensor) -> Tensor:
    across = layers.diff(dim=2).abs().mean()
    down = layers.diff(dim=1).abs().mean()
    return across + down


def scan(height: int, width: int) -> Tensor:
    """A print of four blots, one of each pigment, with a scanner's grain."""
    y, x = torch.meshgrid(torch.linspace(0, 1, height), torch.linspace(0, 1, width), indexing="ij")
    sheet = torch.full((3, height, width), 0.97)
    centres = [(0.3, 0.3), (0.3, 0.7), (0.7, 0.3), (0.7, 0.7)]
    for (cy, cx), pigment in zip(centres, PIGMENTS, strict=True):
        blot = torch.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 0.03)
        lay(sheet, 0.8 * blot, pigment)
    return sheet + 0.01 * torch.randn_like(sheet)


def main() -> None:
    torch.manual_seed(10)
    wanted = normalised_(scan(20, 20))
    sheet = Print(20, 20)
    optimizer = torch.optim.Adam(
        [{"params": [sheet.raw], "lr": 0.2}, {"params": [sheet.paper], "lr": 0.01}]
    )
    for step in range(40):
        optimizer.zero_grad()
        off = (normalised_(sheet()) - wanted).square().mean()
        loss = off + 0.02 * roughness(sheet.layers())
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}  off {off.item():.4f}  loss {loss.item():.4f}")
    print("paper:", [round(v, 3) for v in sheet.paper.flatten().tolist()])


if __name__ == "__main__":
    main()
