"""Balance the parts of a choir model: each loss is weighted by how hard it pulls on the trunk."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PARTS = ("pitch", "vowel", "onset")


class ChoirModel(nn.Module):
    def __init__(self, bins: int = 16, width: int = 12) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(bins, width), nn.Softplus(), nn.Linear(width, width))
        self.pitch = nn.Linear(width, 1)
        self.vowel = nn.Linear(width, 5)
        self.onset = nn.Linear(width, 1)

    def losses(self, frames: Tensor, notes: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        common = self.trunk(frames)
        return common, {
            "pitch": F.mse_loss(self.pitch(common).squeeze(1), notes["pitch"]),
            "vowel": F.cross_entropy(self.vowel(common), notes["vowel"]),
            "onset": F.binary_cross_entropy_with_logits(
                self.onset(common).squeeze(1), notes["onset"]
            ),
        }


class Balance:
    """Weights that even out the pulls, smoothed over the steps."""

    def __init__(self, keep: float = 0.8) -> None:
        self.keep = keep
        self.weights = {part: 1.0 for part in PARTS}

    def update(self, common: Tensor, losses: dict[str, Tensor]) -> None:
        pulls = {
            part: torch.autograd.grad(loss, common, retain_graph=True)[0].norm().item()
            for part, loss in losses.items()
        }
        middle = sum(pulls.values()) / len(pulls)
        for part, pull in pulls.items():
            wanted = middle / (pull + 1e-8)
            self.weights[part] = self.keep * self.weights[part] + (1 - self.keep) * wanted

    def total(self, losses: dict[str, Tensor]) -> Tensor:
        return sum(self.weights[part] * losses[part] for part in PARTS)


def rehearsal(count: int) -> tuple[Tensor, dict[str, Tensor]]:
    frames = torch.rand(count, 16)
    notes = {
        "pitch": 10 * frames[:, :4].mean(dim=1),
        "vowel": frames[:, 4:9].argmax(dim=1),
        "onset": (frames[:, 9] > frames[:, 10]).float(),
    }
    return frames, notes


def main() -> None:
    torch.manual_seed(47)
    frames, notes = rehearsal(64)
    model, balance = ChoirModel(), Balance()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    best, best_state = float("inf"), None
    for bar in range(10):
        rows = torch.randperm(len(frames))[:32]
        common, losses = model.losses(
            frames[rows], {part: column[rows] for part, column in notes.items()}
        )
        balance.update(common, losses)
        loss = balance.total(losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best = loss.item()
            best_state = {name: value.clone() for name, value in model.state_dict().items()}
        told = ", ".join(f"{part} {balance.weights[part]:.2f}" for part in PARTS)
        print(f"bar {bar}: {loss.item():.4f} ({told})")
    model.load_state_dict(best_state)


if __name__ == "__main__":
    main()
