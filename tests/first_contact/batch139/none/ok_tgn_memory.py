# expect: pattern = none
# expect: raises = nothing
"""Temporal graph network: link prediction with a node memory that is carried over the event stream."""
import torch
import torch.nn.functional as F
from torch import nn

CFG = {"nodes": 30, "events": 240, "batch": 24, "mem_dim": 12, "msg_dim": 6, "time_dim": 4, "epochs": 2, "lr": 5e-3}


class TimeEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear = nn.Linear(1, dim)

    def forward(self, dt):
        return torch.cos(self.linear(dt.unsqueeze(-1)))


class NodeMemory(nn.Module):
    """Memory rows live in a buffer; the raw messages of a batch are consumed by the next one."""

    def __init__(self, cfg):
        super().__init__()
        self.time_enc = TimeEncoder(cfg["time_dim"])
        self.updater = nn.GRUCell(cfg["mem_dim"] + cfg["msg_dim"] + cfg["time_dim"], cfg["mem_dim"])
        self.register_buffer("memory", torch.zeros(cfg["nodes"], cfg["mem_dim"]))
        self.register_buffer("last_update", torch.zeros(cfg["nodes"]))
        self.pending = None

    def reset_state(self):
        self.memory.zero_()
        self.last_update.zero_()
        self.pending = None

    def current(self):
        if self.pending is None:
            return self.memory.clone()
        nodes, other, msg, t = self.pending
        inputs = torch.cat([self.memory[other], msg, self.time_enc(t - self.last_update[nodes])], dim=-1)
        updated = self.updater(inputs, self.memory[nodes])
        return self.memory.index_copy(0, nodes, updated)

    def commit(self, fresh, src, dst, msg, t):
        self.memory = fresh.detach()
        if self.pending is not None:
            self.last_update[self.pending[0]] = self.pending[3]
        nodes, other = torch.cat([src, dst]), torch.cat([dst, src])
        keep = {int(n): k for k, n in enumerate(nodes)}
        idx = torch.tensor(list(keep.values()))
        self.pending = (nodes[idx], other[idx], torch.cat([msg, msg])[idx], torch.cat([t, t])[idx])


class LinkPredictor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.src, self.dst, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, 1)

    def forward(self, a, b):
        return self.out(torch.relu(self.src(a) + self.dst(b))).squeeze(-1)


class EventStream:
    def __init__(self, cfg):
        n = cfg["events"]
        self.src = torch.randint(0, cfg["nodes"] // 2, (n,))
        self.dst = torch.randint(cfg["nodes"] // 2, cfg["nodes"], (n,))
        self.t = torch.sort(torch.rand(n) * 10).values
        self.msg = torch.randn(n, cfg["msg_dim"])

    def batches(self, size):
        for i in range(0, len(self.t), size):
            s = slice(i, i + size)
            yield self.src[s], self.dst[s], self.t[s], self.msg[s]


def train_epoch(memory, predictor, stream, optimizer, cfg):
    memory.reset_state()
    total, history = 0.0, []
    for src, dst, t, msg in stream.batches(cfg["batch"]):
        optimizer.zero_grad()
        fresh = memory.current()
        neg = torch.randint(cfg["nodes"] // 2, cfg["nodes"], dst.shape)
        pos_out, neg_out = predictor(fresh[src], fresh[dst]), predictor(fresh[src], fresh[neg])
        loss = F.binary_cross_entropy_with_logits(pos_out, torch.ones_like(pos_out))
        loss += F.binary_cross_entropy_with_logits(neg_out, torch.zeros_like(neg_out))
        loss.backward()
        optimizer.step()
        memory.commit(fresh, src, dst, msg, t)
        history.append(pos_out.detach().sigmoid().mean())
        total += loss.item() * len(src)
    return total / len(stream.t), torch.stack(history).mean().item()


def main():
    torch.manual_seed(42)
    stream = EventStream(CFG)
    memory, predictor = NodeMemory(CFG), LinkPredictor(CFG["mem_dim"])
    optimizer = torch.optim.Adam([*memory.parameters(), *predictor.parameters()], lr=CFG["lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=CFG["epochs"])
    for epoch in range(CFG["epochs"]):
        loss, confidence = train_epoch(memory, predictor, stream, optimizer, CFG)
        scheduler.step()
        print(f"epoch {epoch}: loss {loss:.4f}, mean positive score {confidence:.3f}")


if __name__ == "__main__":
    main()
