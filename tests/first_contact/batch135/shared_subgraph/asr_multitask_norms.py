# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = enc, losses, loss
"""Joint CTC / attention / speaker training of a small speech encoder, with the
gradient norm that every task leaves in the encoder written to the log."""
import argparse
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=12)
    parser.add_argument("--speakers", type=int, default=5)
    parser.add_argument("--feat-dim", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=6)
    parser.add_argument("--ctc-weight", type=float, default=0.3)
    parser.add_argument("--spk-weight", type=float, default=0.1)
    parser.add_argument("--label-smoothing", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--warmup", type=int, default=4)
    parser.add_argument("--grad-clip", type=float, default=5.0)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--seed", type=int, default=777)
    return parser.parse_args([])


class SpecAugment(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.width = width

    def forward(self, feats):
        mask = torch.ones_like(feats)
        for i in range(feats.size(0)):
            start = int(torch.randint(0, feats.size(2) - self.width, (1,)))
            mask[i, :, start:start + self.width] = 0
        return feats * mask


class Encoder(nn.Module):
    def __init__(self, feat_dim, hidden):
        super().__init__()
        self.subsample = nn.Conv1d(feat_dim, hidden, 3, stride=2, padding=1)
        self.norm = nn.LayerNorm(hidden)
        self.rnn = nn.GRU(hidden, hidden // 2, batch_first=True, bidirectional=True)

    def forward(self, feats):
        x = F.relu(self.subsample(feats.transpose(1, 2))).transpose(1, 2)
        out, _ = self.rnn(self.norm(x))
        return out


class AttentionDecoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.attn = nn.MultiheadAttention(hidden, 2, batch_first=True)
        self.out = nn.Linear(2 * hidden, vocab)

    def forward(self, memory, tokens):
        query = self.embed(tokens)
        context, _ = self.attn(query, memory, memory)
        return self.out(torch.cat([query, context], dim=-1))


class JointModel(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.augment = SpecAugment()
        self.encoder = Encoder(args.feat_dim, args.hidden)
        self.ctc = nn.Linear(args.hidden, args.vocab)
        self.decoder = AttentionDecoder(args.vocab, args.hidden)
        self.speaker = nn.Linear(2 * args.hidden, args.speakers)

    def forward(self, feats, tokens, spk):
        enc = self.encoder(self.augment(feats))  # expect: place
        log_probs = self.ctc(enc).log_softmax(-1).transpose(0, 1)
        in_len = torch.full((feats.size(0),), enc.size(1), dtype=torch.long)
        tok_len = torch.full((feats.size(0),), tokens.size(1), dtype=torch.long)
        logits = self.decoder(enc, tokens[:, :-1])
        pooled = torch.cat([enc.mean(1), enc.std(1)], dim=-1)
        return {
            "ctc": F.ctc_loss(log_probs, tokens, in_len, tok_len, zero_infinity=True),
            "att": F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(),
                                   label_smoothing=self.args.label_smoothing),
            "spk": F.cross_entropy(self.speaker(pooled), spk),
        }


class GradNormLog:
    def __init__(self):
        self.values = defaultdict(list)

    def add(self, name, module):
        total = sum(float(p.grad.pow(2).sum()) for p in module.parameters() if p.grad is not None)
        self.values[name].append(total ** 0.5)

    def report(self):
        return " ".join(f"{k}:{sum(v) / len(v):.3f}" for k, v in self.values.items())


def make_batch(args, bank, generator):
    tokens = torch.randint(1, args.vocab, (args.batch_size, 5), generator=generator)
    spk = torch.randint(0, args.speakers, (args.batch_size,), generator=generator)
    feats = bank[tokens].repeat_interleave(6, dim=1)
    feats = feats + 0.3 * torch.randn(feats.shape, generator=generator) + spk[:, None, None] * 0.1
    return feats, tokens, spk


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    bank = torch.randn(args.vocab, args.feat_dim, generator=generator)
    model = JointModel(args)
    weights = {"ctc": args.ctc_weight, "att": 1 - args.ctc_weight, "spk": args.spk_weight}
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / args.warmup))
    norms = GradNormLog()

    for step in range(args.steps):
        feats, tokens, spk = make_batch(args, bank, generator)
        losses = model(feats, tokens, spk)  # expect: place
        optimizer.zero_grad()
        for name, loss in losses.items():  # expect: place
            (weights[name] * loss).backward()  # expect: place
            norms.add(name, model.encoder)
        nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
        optimizer.step()
        scheduler.step()
        print(step, " ".join(f"{k} {v.item():.3f}" for k, v in losses.items()))
    print(norms.report())


if __name__ == "__main__":
    main()
