# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = coverage
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)

PAD, SOS, EOS = 0, 1, 2
VOCAB = 24
HID = 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, HID, batch_first=True)

    def forward(self, src):
        out, h = self.rnn(self.emb(src))
        return out, h.squeeze(0)


class CoverageAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wh = nn.Linear(HID, HID, bias=False)
        self.ws = nn.Linear(HID, HID)
        self.wc = nn.Linear(1, HID, bias=False)
        self.v = nn.Linear(HID, 1, bias=False)

    def forward(self, enc_out, dec_h, coverage, mask):
        feats = self.wh(enc_out) + self.ws(dec_h).unsqueeze(1) + self.wc(coverage.unsqueeze(-1))  # expect: place
        scores = self.v(torch.tanh(feats)).squeeze(-1)
        scores = scores.masked_fill(mask, -1e9)
        return F.softmax(scores, dim=-1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16, padding_idx=PAD)
        self.attn = CoverageAttention()
        self.cell = nn.GRUCell(16 + HID, HID)
        self.out = nn.Linear(2 * HID, VOCAB)

    def forward(self, tgt, enc_out, h, mask):
        bsz, steps = tgt.shape
        coverage = torch.zeros(bsz, enc_out.size(1))
        context = torch.zeros(bsz, HID)
        logits, cov_loss = [], 0.0
        for t in range(steps - 1):
            x = torch.cat([self.emb(tgt[:, t]), context], dim=1)
            h = self.cell(x, h)
            attn = self.attn(enc_out, h, coverage, mask)  # expect: place
            context = torch.bmm(attn.unsqueeze(1), enc_out).squeeze(1)
            logits.append(self.out(torch.cat([h, context], dim=1)))
            cov_loss = cov_loss + torch.min(attn, coverage).sum(1).mean()  # expect: place
            coverage += attn  # expect: place
        return torch.stack(logits, dim=1), cov_loss / (steps - 1)


def toy_batch(n=16, src_len=9):
    """The "summary" keeps every token of the upper half of the vocabulary."""
    src = torch.tensor([[random.randint(3, VOCAB - 1) for _ in range(src_len)] for _ in range(n)])
    rows = [[SOS] + [w for w in row if w >= 14][:4] + [EOS] for row in src.tolist()]
    tgt = torch.tensor([row + [PAD] * (6 - len(row)) for row in rows])
    return src, tgt


encoder, decoder = Encoder(), Decoder()
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adagrad(params, lr=0.1)
LAMBDA_COV = 1.0

for step in range(25):
    src, tgt = toy_batch()
    enc_out, h = encoder(src)
    logits, cov_loss = decoder(tgt, enc_out, h, src.eq(PAD))
    nll = F.cross_entropy(logits.reshape(-1, VOCAB), tgt[:, 1:].reshape(-1), ignore_index=PAD)
    loss = nll + LAMBDA_COV * cov_loss
    optimizer.zero_grad()
    loss.backward()  # expect: place
    nn.utils.clip_grad_norm_(params, 2.0)
    optimizer.step()
    if step % 8 == 0:
        print(step, "nll", round(nll.item(), 3), "coverage", round(cov_loss.item(), 3))
