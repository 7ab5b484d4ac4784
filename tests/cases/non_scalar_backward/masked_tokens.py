# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss
import argparse
import torch
import torch.nn as nn


class TinyLM(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        enc = nn.TransformerEncoderLayer(d, 2, 32, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(enc, 1)
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        return self.head(self.enc(self.tok(ids)))


def mlm_loss(logits, labels, mask):
    per_token = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return per_token * mask  # expect: place


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", default=3, type=int)
    ap.add_argument("--vocab", default=50, type=int)
    args = ap.parse_args()
    torch.manual_seed(0)
    model = TinyLM(args.vocab, 16)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for step in range(args.steps):
        ids = torch.randint(0, args.vocab, (4, 10))
        mask = (torch.rand(4, 10) < 0.3).float()
        loss = mlm_loss(model(ids.masked_fill(mask.bool(), 0)), ids, mask)  # expect: place
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()


if __name__ == "__main__":
    main()
