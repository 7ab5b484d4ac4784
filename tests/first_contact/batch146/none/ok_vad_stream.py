"""Streaming voice activity detection: long recordings are cut into chunks, the GRU state is carried on."""
import argparse
import logging
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

LOGGER = logging.getLogger("vad")


def make_recordings(n, frames, bands, generator):
    speech = torch.zeros(n, frames)
    for row in speech:
        pos = 0
        while pos < frames:
            pause, talk = torch.randint(8, 30, (2,), generator=generator).tolist()
            row[pos + pause:pos + pause + talk] = 1.0
            pos += pause + talk
    profile = torch.linspace(2.0, 0.2, bands)
    feats = speech[..., None] * profile + 0.8 * torch.randn(n, frames, bands, generator=generator)
    noise_level = torch.rand(n, 1, 1, generator=generator)
    return feats + noise_level, speech


class StreamingVAD(nn.Module):
    def __init__(self, bands, hidden):
        super().__init__()
        self.register_buffer("floor", torch.zeros(bands))
        self.gru = nn.GRU(bands, hidden, batch_first=True)
        self.speech = nn.Linear(hidden, 1)
        self.energy = nn.Linear(hidden, 1)

    def forward(self, feats, state):
        if self.training:
            self.floor.lerp_(feats.amin(dim=1).mean(dim=0), 0.05)
        h, state = self.gru(feats - self.floor, state)
        return self.speech(h).squeeze(-1), self.energy(h).squeeze(-1), state


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.opt = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.recent = deque(maxlen=20)
        self.aux_norm = 0.0

    def grad_norm(self):
        return sum(p.grad.pow(2).sum() for p in self.model.gru.parameters()) ** 0.5

    def run_recording(self, feats, speech):
        state = None
        for chunk, label in zip(feats.split(self.args.chunk, 1), speech.split(self.args.chunk, 1)):
            logits, energy, state = self.model(chunk, state)
            vad_loss = F.binary_cross_entropy_with_logits(logits, label)
            aux_loss = F.mse_loss(energy, chunk.mean(dim=-1))
            self.opt.zero_grad()
            (self.args.aux_weight * aux_loss).backward(retain_graph=True)
            self.aux_norm = self.grad_norm()
            vad_loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            state = state.detach()
            self.recent.append(vad_loss.detach())

    def fit(self, loader, valid):
        for epoch in range(self.args.epochs):
            self.model.train()
            for feats, speech in loader:
                self.run_recording(feats, speech)
            LOGGER.info("epoch %d loss %.3f aux grad %.3f error %.3f", epoch,
                        torch.stack(list(self.recent)).mean(), self.aux_norm, self.error_rate(*valid))

    def error_rate(self, feats, speech):
        self.model.eval()
        with torch.no_grad():
            logits, _, _ = self.model(feats, None)
        return ((logits > 0).float() != speech).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bands", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--chunk", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--aux-weight", type=float, default=0.3)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(17)
    generator = torch.Generator().manual_seed(17)
    feats, speech = make_recordings(24, 120, args.bands, generator)
    valid = make_recordings(8, 120, args.bands, generator)
    loader = list(zip(feats.split(8), speech.split(8)))
    Trainer(StreamingVAD(args.bands, args.hidden), args).fit(loader, valid)


if __name__ == "__main__":
    main()
