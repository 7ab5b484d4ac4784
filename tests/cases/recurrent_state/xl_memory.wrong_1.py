import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class XLBlock(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.ReLU(), nn.Linear(2 * d_model, d_model))
        self.n1, self.n2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mem):
        context = x if mem is None else torch.cat([mem, x], dim=1)
        x = self.n1(x + self.attn(x, context, context, need_weights=False)[0])
        return self.n2(x + self.ff(x))


class MiniXL(nn.Module):
    def __init__(self, vocab, d_model=16, n_layer=2, mem_len=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList(XLBlock(d_model, 2) for _ in range(n_layer))
        self.mem_len = mem_len

    def forward(self, tokens, mems=None):
        mems = mems or [None] * len(self.blocks)
        x, new_mems = self.emb(tokens).detach(), []
        for block, mem in zip(self.blocks, mems):
            new_mems.append(x[:, -self.mem_len :].detach())
            x = block(x, mem)
        return F.linear(x, self.emb.weight), new_mems


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--segments", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.02)
    return p.parse_args([])


def main(args):
    torch.manual_seed(0)
    stream = torch.randint(0, 20, (3, args.segments * 8 + 1))
    model = MiniXL(20)
    optim = torch.optim.SGD(model.parameters(), lr=args.lr)
    mems = None
    for s in range(args.segments):
        data, target = stream[:, s * 8 : s * 8 + 8], stream[:, s * 8 + 1 : s * 8 + 9]
        logits, mems = model(data, mems)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        model.zero_grad()
        loss.backward()
        optim.step()
        print(f"| segment {s} | loss {loss:.3f}")


if __name__ == "__main__":
    main(get_args())
