



"""Next-character model; a slowly moving topic vector tells the window what the book is about."""
from dataclasses import dataclass

import torch
from torch import nn

TEXT = (
    "the harbour was quiet and the boats lay still . a bell rang twice and nobody came . "
    "the keeper of the light wrote the hour in his book and went up the stairs again . "
) * 12


@dataclass
class Config:
    dim: int = 24
    window: int = 32
    chunk: int = 8
    streams: int = 4
    lr: float = 3e-3
    seed: int = 8


class TopicLM(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.emb = nn.Embedding(vocab, cfg.dim)
        self.mix = nn.Parameter(torch.zeros(cfg.dim))
        self.conv = nn.Conv1d(cfg.dim, cfg.dim, 5)
        self.head = nn.Linear(cfg.dim, vocab)
        self.chunk = cfg.chunk
        self.topic = None

    def reset(self, n):
        self.topic = torch.zeros(n, self.emb.embedding_dim)

    def forward(self, ids):
        e = self.emb(ids)
        keep = torch.sigmoid(self.mix + 1.0)
        x = nn.functional.pad(e.transpose(1, 2), (4, 0))
        h = torch.tanh(self.conv(x)).transpose(1, 2)
        plain = self.head(h)
        # causal: a chunk's characters only reach the topic of the chunks after it
        out = []
        for part, chunk in zip(plain.split(self.chunk, dim=1), e.split(self.chunk, dim=1)):
            out.append(part + self._bias(keep))
            self.topic = keep * self.topic + (1 - keep) * chunk.mean(dim=1)
        return torch.cat(out, dim=1)

    def _bias(self, keep):
        # scored against the embeddings as they are: only the topic side learns from this
        context = keep * self.topic
        return (context @ self.emb.weight.detach().T).unsqueeze(1)


def windows(ids, cfg):
    rows = ids[: len(ids) // cfg.streams * cfg.streams].view(cfg.streams, -1)
    for s in range(0, rows.shape[1] - cfg.window - 1, cfg.window):
        yield rows[:, s : s + cfg.window], rows[:, s + 1 : s + 1 + cfg.window]


def train(cfg):
    torch.manual_seed(cfg.seed)
    chars = sorted(set(TEXT))
    ids = torch.tensor([chars.index(c) for c in TEXT])
    model = TopicLM(len(chars), cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(2):
        model.reset(cfg.streams)
        for n, (x, y) in enumerate(windows(ids, cfg)):
            model.topic = model.topic.detach()
            logits = model(x)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        print(f"epoch {epoch}: {n + 1} windows, last loss {loss.item():.3f}")


if __name__ == "__main__":
    train(Config())
