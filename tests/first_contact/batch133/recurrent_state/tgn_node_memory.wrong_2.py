"""Link prediction on a stream of interactions with one memory vector per node."""
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class StreamConfig:
    num_nodes: int = 30
    memory_dim: int = 16
    edge_dim: int = 5
    events: int = 200
    batch: int = 25
    epochs: int = 2
    lr: float = 5e-3


@dataclass
class NodeMemory:
    """Last state of every node that has been seen; zeros for the rest."""

    dim: int
    states: dict = field(default_factory=dict)

    def lookup(self, nodes):
        blank = torch.zeros(self.dim)
        return torch.stack([self.states.get(int(n), blank) for n in nodes])

    def write(self, nodes, new_states):
        for n, new_state in zip(nodes.tolist(), new_states):
            self.states[n] = new_state

    def reset(self):
        self.states.clear()


class TemporalLinkModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.memory = NodeMemory(cfg.memory_dim)
        self.message = nn.Sequential(nn.Linear(2 * cfg.memory_dim + cfg.edge_dim + 1, 24), nn.ReLU())
        self.updater = nn.GRUCell(24, cfg.memory_dim)
        self.node_bias = nn.Embedding(cfg.num_nodes, cfg.memory_dim)
        self.score = nn.Bilinear(cfg.memory_dim, cfg.memory_dim, 1)

    def embed(self, nodes):
        return torch.tanh(self.memory.lookup(nodes) + self.node_bias(nodes))

    def link_logits(self, src, dst):
        return self.score(self.embed(src), self.embed(dst)).squeeze(-1)

    def observe(self, src, dst, feat, t):
        m_src, m_dst = self.memory.lookup(src), self.memory.lookup(dst)
        stamp = t.log1p().unsqueeze(-1)
        to_src = self.message(torch.cat([m_src, m_dst, feat, stamp], dim=-1))
        to_dst = self.message(torch.cat([m_dst, m_src, feat, stamp], dim=-1))
        nodes = torch.cat([src, dst])
        new_states = self.updater(torch.cat([to_src, to_dst]), torch.cat([m_src, m_dst]))
        self.memory.write(nodes, new_states)


def make_stream(cfg):
    src = torch.randint(0, cfg.num_nodes // 2, (cfg.events,))
    dst = torch.randint(cfg.num_nodes // 2, cfg.num_nodes, (cfg.events,))
    feat = torch.randn(cfg.events, cfg.edge_dim)
    t = torch.rand(cfg.events).cumsum(0)
    return {"src": src, "dst": dst, "feat": feat, "t": t}


def batches(stream, size):
    for lo in range(0, len(stream["src"]), size):
        yield {k: v[lo:lo + size] for k, v in stream.items()}


def train_epoch(model, stream, optimizer, cfg):
    criterion = nn.BCEWithLogitsLoss()
    model.memory.reset()
    seen, total = 0, 0.0
    previous = None
    for batch in batches(stream, cfg.batch):
        if previous is not None:  # the memory is brought up to date before it is asked
            model.observe(**previous)
        fake = torch.randint(cfg.num_nodes // 2, cfg.num_nodes, batch["dst"].shape)
        pos = model.link_logits(batch["src"], batch["dst"])
        neg = model.link_logits(batch["src"], fake)
        loss = criterion(pos, torch.ones_like(pos)) + criterion(neg, torch.zeros_like(neg))
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        total += loss.item() * len(pos)
        seen += len(pos)
        previous = batch
    return total / seen


def main():
    torch.manual_seed(21)
    cfg = StreamConfig()
    stream = make_stream(cfg)
    model = TemporalLinkModel(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        print(f"epoch {epoch}: loss {train_epoch(model, stream, optimizer, cfg):.4f}")


if __name__ == "__main__":
    main()
