# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = coverage
"""Headlines for council minutes: an attentive decoder that keeps count of what it has read."""
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, START = 0, 1


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.rnn = nn.GRU(hidden, hidden // 2, bidirectional=True, batch_first=True)

    def forward(self, src):
        outputs, h = self.rnn(self.emb(src))
        return outputs, torch.cat([h[0], h[1]], dim=1), src.ne(PAD)


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.w_h = nn.Linear(hidden, hidden, bias=False)
        self.w_s = nn.Linear(hidden, hidden)
        self.w_c = nn.Linear(1, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, state, outputs, mask, coverage):
        features = self.w_h(outputs) + self.w_s(state).unsqueeze(1)
        features = features + self.w_c(coverage.unsqueeze(2))  # expect: place
        scores = self.v(torch.tanh(features)).squeeze(2).masked_fill(~mask, -1e9)
        attn = F.softmax(scores, dim=1)
        context = (attn.unsqueeze(1) @ outputs).squeeze(1)
        return context, attn


class Decoder(nn.Module):
    def __init__(self, vocab, hidden, cov_weight=1.0):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.cell = nn.GRUCell(2 * hidden, hidden)
        self.attention = Attention(hidden)
        self.out = nn.Linear(2 * hidden, vocab)
        self.cov_weight = cov_weight

    def forward(self, tgt, outputs, state, mask):
        coverage = torch.zeros_like(mask, dtype=torch.float)
        context = torch.zeros_like(state)
        word, losses = torch.full_like(tgt[:, 0], START), []
        for step in range(tgt.size(1)):
            state = self.cell(torch.cat([self.emb(word), context], dim=1), state)
            context, attn = self.attention(state, outputs, mask, coverage)
            logits = self.out(torch.cat([state, context], dim=1))
            nll = F.cross_entropy(logits, tgt[:, step], ignore_index=PAD)
            cov_loss = torch.min(attn, coverage).sum(dim=1).mean()
            coverage += attn  # expect: place
            losses.append(nll + self.cov_weight * cov_loss)
            word = tgt[:, step]
        return torch.stack(losses).mean()


torch.manual_seed(14)
encoder, decoder = Encoder(40, 24), Decoder(40, 24)
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adagrad(params, lr=0.15, initial_accumulator_value=0.1)
for step in range(12):
    minutes = torch.randint(2, 40, (8, 14))
    minutes[::2, 11:] = PAD
    headlines = minutes[:, 1:10:2]
    outputs, state, mask = encoder(minutes)
    loss = decoder(headlines, outputs, state, mask)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 2.0)
    optimizer.step()
    if step % 4 == 3:
        print("step %d  loss %.4f" % (step, loss.item()))
