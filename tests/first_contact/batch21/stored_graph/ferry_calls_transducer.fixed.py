"""A small RNN transducer that writes down ferry announcements ("next stop ...").

The label side only depends on the labels said so far, and announcements share their beginnings, so
its states are looked up in a prefix tree instead of being worked out anew for each utterance.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn

BLANK, NEXT, STOP, PIER, ISLE, TOWN = range(6)
SENTENCES = [(NEXT, STOP, PIER), (NEXT, STOP, ISLE), (STOP, TOWN), (NEXT, TOWN)]


class Predictor(nn.Module):
    def __init__(self, labels: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(labels, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.start = nn.Parameter(torch.zeros(1, dim))
        self.seen: dict[tuple[int, ...], Tensor] = {}

    def state(self, prefix: tuple[int, ...]) -> Tensor:
        if prefix not in self.seen:
            if not prefix:
                self.seen[prefix] = torch.tanh(self.start)
            else:
                label = self.embed(torch.tensor([prefix[-1]]))
                self.seen[prefix] = self.cell(label, self.state(prefix[:-1]))
        return self.seen[prefix]

    def forward(self, labels: tuple[int, ...]) -> Tensor:
        return torch.cat([self.state(labels[:u]) for u in range(len(labels) + 1)])


class Transducer(nn.Module):
    def __init__(self, bands: int = 8, dim: int = 16, labels: int = 6) -> None:
        super().__init__()
        self.encoder = nn.GRU(bands, dim, batch_first=True)
        self.predictor = Predictor(labels, dim)
        self.joint = nn.Sequential(nn.Tanh(), nn.Linear(dim, labels))

    def lattice(self, sound: Tensor, labels: tuple[int, ...]) -> Tensor:
        heard = self.encoder(sound.unsqueeze(0))[0].squeeze(0)
        said = self.predictor(labels)
        return self.joint(heard[:, None] + said[None]).log_softmax(-1)

    def nll(self, sound: Tensor, labels: tuple[int, ...]) -> Tensor:
        logp = self.lattice(sound, labels)
        frames, rows = logp.shape[:2]
        alpha: list[list[Tensor]] = [[] for _ in range(frames)]
        for t in range(frames):
            for u in range(rows):
                ways = []
                if t > 0:
                    ways.append(alpha[t - 1][u] + logp[t - 1, u, BLANK])
                if u > 0:
                    ways.append(alpha[t][u - 1] + logp[t, u - 1, labels[u - 1]])
                alpha[t].append(torch.logsumexp(torch.stack(ways), 0) if ways else logp.new_zeros(()))
        return -(alpha[-1][-1] + logp[-1, -1, BLANK])

    @torch.no_grad()
    def greedy(self, sound: Tensor) -> tuple[int, ...]:
        self.predictor.seen.clear()
        heard, out = self.encoder(sound.unsqueeze(0))[0].squeeze(0), ()
        for frame in heard:
            for _ in range(3):
                best = int(self.joint(frame + self.predictor.state(out)[0]).argmax())
                if best == BLANK:
                    break
                out += (best,)
        self.predictor.seen.clear()
        return out


def announce(voices: Tensor, labels: tuple[int, ...]) -> Tensor:
    sound = torch.cat([voices[label].repeat(2, 1) for label in labels])
    return sound + 0.2 * torch.randn_like(sound)


def main() -> None:
    torch.manual_seed(4)
    voices = torch.randn(6, 8)
    model = Transducer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(2):
        total = 0.0
        for _ in range(4):
            batch = [SENTENCES[int(i)] for i in torch.randint(len(SENTENCES), (3,))]
            model.predictor.seen.clear()
            loss = sum(model.nll(announce(voices, labels), labels) for labels in batch) / len(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: nll {total / 4:.3f}", model.greedy(announce(voices, SENTENCES[0])))


if __name__ == "__main__":
    main()
