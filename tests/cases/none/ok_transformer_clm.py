import math
import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab=16, d=16, heads=2, layers=1, context=8):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(context, d)
        block = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(context))

    def forward(self, ids):
        t = ids.size(1)
        x = self.tok(ids) + self.pos(torch.arange(t))
        return self.head(self.blocks(x, mask=self.mask[:t, :t]))


def cosine_lr(step, total, peak):
    return 0.5 * peak * (1 + math.cos(math.pi * step / total))


torch.manual_seed(0)
model = TinyGPT()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
for step in range(4):
    for group in opt.param_groups:
        group["lr"] = cosine_lr(step, 4, 1e-3)
    ids = torch.randint(0, 16, (4, 9))
    logits = model(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 16), ids[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
