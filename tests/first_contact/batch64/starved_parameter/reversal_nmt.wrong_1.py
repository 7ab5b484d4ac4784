"""Small attention seq2seq. The 'language pair' is digits -> reversed digits with a shifted alphabet."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS, OFFSET = 0, 1, 2, 3


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.cell = nn.GRUCell(emb, hidden)
        self.hidden = hidden

    def forward(self, src):
        batch, length = src.shape
        h = torch.zeros(batch, self.hidden)
        memory = torch.zeros(batch, length, self.hidden)
        for t in range(length):
            h = self.cell(self.embed(src[:, t]), h)
            memory[:, t] = h.data
        return memory.requires_grad_()


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.w_q = nn.Linear(hidden, hidden, bias=False)
        self.w_k = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, state, memory, mask):
        e = self.score(torch.tanh(self.w_q(state).unsqueeze(1) + self.w_k(memory))).squeeze(-1)
        a = e.masked_fill(mask, -1e9).softmax(dim=-1)
        return torch.bmm(a.unsqueeze(1), memory).squeeze(1), a


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.attend = Attention(hidden)
        self.cell = nn.GRUCell(emb + hidden, hidden)
        self.bridge = nn.Linear(hidden, hidden)
        self.readout = nn.Linear(2 * hidden, vocab)

    def forward(self, memory, mask, tgt_in):
        state = torch.tanh(self.bridge(memory.mean(dim=1)))
        steps = []
        for t in range(tgt_in.shape[1]):
            context, _ = self.attend(state, memory, mask)
            state = self.cell(torch.cat([self.embed(tgt_in[:, t]), context], dim=-1), state)
            steps.append(self.readout(torch.cat([state, context], dim=-1)))
        return torch.stack(steps, dim=1)


class Translator(nn.Module):
    def __init__(self, vocab, emb=12, hidden=20):
        super().__init__()
        self.encoder = Encoder(vocab, emb, hidden)
        self.decoder = Decoder(vocab, emb, hidden)

    def forward(self, src, tgt_in):
        memory = self.encoder(src)
        return self.decoder(memory, src.eq(PAD), tgt_in)


def sample_batch(size, max_len=6, digits=7):
    lengths = torch.randint(3, max_len + 1, (size,))
    src = torch.full((size, max_len), PAD)
    tgt = torch.full((size, max_len + 2), PAD)
    tgt[:, 0] = BOS
    for i, n in enumerate(lengths.tolist()):
        seq = torch.randint(digits, (n,))
        src[i, :n] = seq + OFFSET
        tgt[i, 1:n + 1] = (seq.flip(0) + 2) % digits + OFFSET
        tgt[i, n + 1] = EOS
    return src, tgt


def train(args):
    torch.manual_seed(args.seed)
    model = Translator(vocab=7 + OFFSET)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        src, tgt = sample_batch(args.batch)
        logits = model(src, tgt[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 5 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  ppl {loss.exp().item():.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=31)
    train(parser.parse_args([]))
