from typing import Dict, Iterator, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Batch = Tuple[torch.Tensor, Dict[str, torch.Tensor]]


class VoiceData:
    """Log-mel like frames with a speaker, a pitch and a voicing flag."""

    def __init__(self, n: int = 256, frames: int = 12, mels: int = 20, seed: int = 17):
        gen = torch.Generator().manual_seed(seed)
        self.speaker = torch.randint(0, 4, (n,), generator=gen)
        self.pitch = torch.rand(n, generator=gen)
        self.voiced = (torch.rand(n, generator=gen) > 0.4).float()
        tint = torch.randn(4, mels, generator=gen)
        ramp = torch.linspace(0, 6.28, mels)
        base = tint[self.speaker] + torch.sin(ramp * (1 + self.pitch[:, None]))
        base = base * (0.3 + self.voiced[:, None])
        self.x = base[:, None] + 0.3 * torch.randn(n, frames, mels, generator=gen)

    def loader(self, size: int) -> Iterator[Batch]:
        order = torch.randperm(len(self.x))
        for idx in order.split(size):
            yield self.x[idx], {"speaker": self.speaker[idx], "pitch": self.pitch[idx],
                                "voiced": self.voiced[idx]}


class VoiceModule(nn.Module):
    weights = {"speaker": 1.0, "pitch": 4.0, "voiced": 0.5}

    def __init__(self, mels: int = 20, width: int = 32):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(mels, width), nn.GELU())
        self.mix = nn.GRU(width, width, batch_first=True)
        self.heads = nn.ModuleDict({
            "speaker": nn.Linear(width, 4),
            "pitch": nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 1)),
            "voiced": nn.Linear(width, 1),
        })

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        out, _ = self.mix(self.frame(x))
        return out.mean(dim=1)

    def training_step(self, batch: Batch) -> Dict[str, torch.Tensor]:
        x, y = batch
        code = self.encode(x)
        losses = {
            "speaker": F.cross_entropy(self.heads["speaker"](code), y["speaker"]),
            "pitch": F.mse_loss(self.heads["pitch"](code).squeeze(-1), y["pitch"]),
            "voiced": F.binary_cross_entropy_with_logits(
                self.heads["voiced"](code).squeeze(-1), y["voiced"]),
        }
        return {name: self.weights[name] * value for name, value in losses.items()}

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=4e-3, weight_decay=1e-3)
        return opt, torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)


class Runner:
    def __init__(self, max_epochs: int, clip: float = 1.0):
        self.max_epochs = max_epochs
        self.clip = clip
        self.logs = []

    def fit(self, module: VoiceModule, data: VoiceData) -> None:
        opt, sched = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            sums: Dict[str, float] = {}
            for batch in data.loader(64):
                opt.zero_grad(set_to_none=True)
                losses = module.training_step(batch)
                for name, loss in losses.items():
                    loss.backward(retain_graph=True)
                    opt.step()
                    sums[name] = sums.get(name, 0.0) + loss.item()
                nn.utils.clip_grad_norm_(module.parameters(), self.clip)
            sched.step()
            self.logs.append(sums)
            print(epoch, {k: round(v, 3) for k, v in sums.items()})


if __name__ == "__main__":
    torch.manual_seed(2)
    Runner(max_epochs=3).fit(VoiceModule(), VoiceData())
