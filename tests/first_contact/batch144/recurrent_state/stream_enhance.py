# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state, self.state, left, self.left, feats, memory
"""Streaming speech enhancement: recordings arrive in chunks, the model carries its context."""
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_bins: int = 33
    hidden: int = 24
    context: int = 2
    chunk: int = 10
    frames: int = 50
    recordings: int = 4
    batch: int = 4
    lr: float = 3e-3
    seed: int = 21
    log: List[Dict[str, float]] = field(default_factory=list)


class StreamingMasker(nn.Module):
    """Causal convolution over features, then a GRU that predicts a mask for each bin."""

    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.cfg = cfg
        self.proj = nn.Linear(cfg.n_bins, cfg.hidden)
        self.conv = nn.Conv1d(cfg.hidden, cfg.hidden, cfg.context + 1)
        self.gru = nn.GRU(cfg.hidden, cfg.hidden, batch_first=True)
        self.mask = nn.Linear(cfg.hidden, cfg.n_bins)
        self.reset()

    def reset(self) -> None:
        self.left: Optional[torch.Tensor] = None
        self.state: Optional[torch.Tensor] = None

    def forward(self, spec: torch.Tensor) -> torch.Tensor:
        feats = torch.relu(self.proj(spec)).transpose(1, 2)
        if self.left is None:
            self.left = feats.new_zeros(feats.size(0), feats.size(1), self.cfg.context)
        padded = torch.cat([self.left, feats], dim=-1)  # expect: place
        self.left = feats[..., -self.cfg.context:]  # expect: place
        local = torch.relu(self.conv(padded)).transpose(1, 2)
        memory, self.state = self.gru(local, self.state)  # expect: place
        return torch.sigmoid(self.mask(memory))


class NoisySpeech:
    """Slowly modulated harmonic spectra plus stationary noise."""

    def __init__(self, cfg: Config) -> None:
        self.cfg = cfg
        self.templates = torch.rand(5, cfg.n_bins).pow(3)

    def recording(self) -> Tuple[torch.Tensor, torch.Tensor]:
        cfg = self.cfg
        voice = self.templates[torch.randint(5, (cfg.batch,))].unsqueeze(1)
        phase = torch.rand(cfg.batch, 1, 1) * 6.28
        envelope = 0.5 + 0.5 * torch.sin(phase + 0.2 * torch.arange(cfg.frames).view(1, -1, 1))
        clean = voice * envelope
        return clean, clean + 0.3 * torch.rand_like(clean)

    def __iter__(self) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
        for _ in range(self.cfg.recordings):
            yield self.recording()


def si_snr(estimate: torch.Tensor, clean: torch.Tensor) -> float:
    error = (estimate - clean).pow(2).sum()
    return (10 * torch.log10(clean.pow(2).sum() / error)).item()


def train_recording(model, optimizer, clean, noisy, cfg: Config) -> float:
    model.train()
    model.reset()
    total, chunks = 0.0, 0
    for start in range(0, cfg.frames, cfg.chunk):
        x = noisy[:, start:start + cfg.chunk]
        y = clean[:, start:start + cfg.chunk]
        mask = model(x)
        loss = F.mse_loss(mask * x, y)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total, chunks = total + loss.item(), chunks + 1
    return total / chunks


@torch.no_grad()
def evaluate(model, corpus: NoisySpeech) -> float:
    model.eval()
    model.reset()
    clean, noisy = corpus.recording()
    parts = [model(part) * part for part in noisy.split(corpus.cfg.chunk, dim=1)]
    return si_snr(torch.cat(parts, dim=1), clean)


def main(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    corpus = NoisySpeech(cfg)
    model = StreamingMasker(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for number, (clean, noisy) in enumerate(corpus):
        loss = train_recording(model, optimizer, clean, noisy, cfg)
        cfg.log.append({"recording": number, "loss": loss, "snr": evaluate(model, corpus)})
        print(cfg.log[-1])


if __name__ == "__main__":
    main(Config())
