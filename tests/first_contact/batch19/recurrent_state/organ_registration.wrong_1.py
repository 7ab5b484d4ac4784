"""Predict the next chord of organ pieces with linear attention.

A piece is long, so it is read in segments; every layer hands its running sums to the next segment.
"""
import torch
from torch import nn
from torch.nn import functional as F

CHORDS = 18
SEGMENT = 12
torch.manual_seed(3)


class LinearAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim)

    def empty(self, batch, dim):
        width = dim // self.heads
        return torch.zeros(batch, self.heads, width, width), torch.zeros(batch, self.heads, width)

    def forward(self, x, memory):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        s, z = memory
        outs = []
        for i in range(t):
            s = s + k[:, :, i].unsqueeze(-1) * v[:, :, i].unsqueeze(-2)
            z = z + k[:, :, i]
            num = torch.einsum("bhd,bhde->bhe", q[:, :, i], s)
            den = (q[:, :, i] * z).sum(-1, keepdim=True) + 1e-6
            outs.append((num / den).flatten(1))
        return self.out(torch.stack(outs, dim=1)), (s, z)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = LinearAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, memory):
        a, memory = self.attention(self.norm1(x), memory)
        x = x + a
        return x + self.mlp(self.norm2(x)), memory


class ChordModel(nn.Module):
    def __init__(self, dim=24, heads=3, depth=2):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(CHORDS, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.head = nn.Linear(dim, CHORDS)

    def start(self, batch):
        return [block.attention.empty(batch, self.dim) for block in self.blocks]

    def forward(self, chords, memories):
        x = self.embed(chords)
        kept = []
        for block, memory in zip(self.blocks, memories):
            x, memory = block(x, memory)
            kept.append(memory)
        return self.head(x), kept


def pieces(count, length):
    steps = torch.tensor([5, 7, 2, 10])
    moves = steps[torch.randint(0, 4, (count, 1)) + torch.zeros(1, length, dtype=torch.long)]
    return (torch.randint(0, CHORDS, (count, 1)) + moves.cumsum(1)) % CHORDS


model = ChordModel()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=12)

for epoch in range(3):
    batch = pieces(8, 4 * SEGMENT + 1)
    memories = model.start(len(batch))
    total = 0.0
    for start in range(0, batch.size(1) - 1, SEGMENT):
        x = batch[:, start:start + SEGMENT]
        y = batch[:, start + 1:start + SEGMENT + 1]
        logits, memories = model(x, memories)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        total += loss.item()
    print("epoch", epoch, "loss", round(total / 4, 3))
