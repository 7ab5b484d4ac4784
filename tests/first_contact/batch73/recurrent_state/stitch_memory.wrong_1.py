"""Language model over knitting charts: rows of stitches read in segments, earlier segments attended to."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

STITCHES = ["k", "p", "yo", "k2tog", "ssk", "sl", "c4f", "<row>"]


class RelativeAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_model // n_head
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.kv = nn.Linear(d_model, 2 * d_model, bias=False)
        self.o = nn.Linear(d_model, d_model, bias=False)
        self.distance = nn.Embedding(128, n_head)

    def forward(self, w, mem):
        cat = w if mem is None else torch.cat([mem, w], dim=1)
        bsz, qlen, klen = w.size(0), w.size(1), cat.size(1)
        q = self.q(w).view(bsz, qlen, self.n_head, self.d_head)
        k, v = self.kv(cat).view(bsz, klen, self.n_head, 2 * self.d_head).chunk(2, -1)
        score = torch.einsum("bind,bjnd->bnij", q, k) / math.sqrt(self.d_head)
        gap = torch.arange(klen - qlen, klen)[:, None] - torch.arange(klen)[None, :]
        score = score + self.distance(gap.clamp(0, 127)).permute(2, 0, 1)
        score = score.masked_fill(gap < 0, float("-inf"))
        out = torch.einsum("bnij,bjnd->bind", score.softmax(-1), v)
        return self.o(out.reshape(bsz, qlen, -1))


class ChartModel(nn.Module):
    def __init__(self, n_token, d_model=16, n_layer=2, mem_len=12):
        super().__init__()
        self.mem_len = mem_len
        self.emb = nn.Embedding(n_token, d_model)
        self.attn = nn.ModuleList(RelativeAttention(d_model, 2) for _ in range(n_layer))
        self.ff = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, 32), nn.GELU(), nn.Linear(32, d_model))
            for _ in range(n_layer))
        self.head = nn.Linear(d_model, n_token)
        self.mems = [None] * n_layer

    def _update_mems(self, hids):
        new_mems = []
        for old, hid in zip(self.mems, hids):
            cat = hid if old is None else torch.cat([old, hid], dim=1)
            new_mems.append(cat[:, -self.mem_len:])
        self.mems = new_mems

    def forward(self, tokens):
        hids, h = [], self.emb(tokens)
        for attn, ff, mem in zip(self.attn, self.ff, self.mems):
            hids.append(h)
            h = h + attn(h, mem)
            h = h + ff(h)
        self._update_mems(hids)
        return self.head(h)


def knit(n_rows, width, gen):
    repeat = torch.randint(0, 7, (width,), generator=gen)
    rows = [torch.cat([repeat.roll(r), torch.tensor([7])]) for r in range(n_rows)]
    return torch.cat(rows)


def batches(data, bptt):
    for i in range(0, data.size(1) - 1, bptt):
        n = min(bptt, data.size(1) - 1 - i)
        yield data[:, i:i + n], data[:, i + 1:i + 1 + n]


if __name__ == "__main__":
    torch.manual_seed(1111)
    gen = torch.Generator().manual_seed(4)
    data = torch.stack([knit(9, 7, gen) for _ in range(4)])
    model = ChartModel(len(STITCHES))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (x, y) in enumerate(batches(data, bptt=10)):
        model.mems = [None] * len(model.mems)
        logits = model(x)
        loss = F.cross_entropy(logits.reshape(-1, len(STITCHES)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print(f"| step {step:3d} | loss {loss.item():5.3f} | ppl {math.exp(loss.item()):7.2f}")
