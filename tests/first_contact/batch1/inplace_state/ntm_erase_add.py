# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = memory, mem, self.memory
"""Copy task with a little neural Turing machine."""
import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, hidden, width):
        super().__init__()
        self.key = nn.Linear(hidden, width)
        self.beta = nn.Linear(hidden, 1)

    def address(self, h, mem):
        k = torch.tanh(self.key(h)).unsqueeze(1)
        sim = F.cosine_similarity(mem, k, dim=-1)  # expect: place
        return torch.softmax(F.softplus(self.beta(h)) * sim, dim=-1)


class WriteHead(Head):
    def __init__(self, hidden, width):
        super().__init__(hidden, width)
        self.erase = nn.Linear(hidden, width)
        self.add = nn.Linear(hidden, width)

    def write(self, h, mem):
        w = self.address(h, mem).unsqueeze(-1)
        e = torch.sigmoid(self.erase(h)).unsqueeze(1)
        a = torch.tanh(self.add(h)).unsqueeze(1)
        mem.mul_(1 - w * e)  # expect: place
        mem.add_(w * a)  # expect: place
        return mem


class NTM(nn.Module):
    def __init__(self, bits=4, hidden=20, cells=6, width=8):
        super().__init__()
        self.cells, self.width = cells, width
        self.controller = nn.GRUCell(bits + 1 + width, hidden)
        self.reader, self.writer = Head(hidden, width), WriteHead(hidden, width)
        self.out = nn.Linear(hidden + width, bits)
        self.mem_bias = nn.Parameter(0.1 * torch.randn(cells, width))

    def forward(self, seq, recall):
        batch = seq.size(1)
        mem = self.mem_bias.repeat(batch, 1, 1)
        h, r = torch.zeros(batch, self.controller.hidden_size), torch.zeros(batch, self.width)
        blank = torch.zeros(batch, seq.size(-1))
        flag = torch.zeros(batch, 1)
        for x in seq:
            h = self.controller(torch.cat([x, flag, r], -1), h)
            mem = self.writer.write(h, mem)
            r = torch.einsum("bn,bnw->bw", self.reader.address(h, mem), mem)  # expect: place
        outs = []
        for _ in range(recall):
            h = self.controller(torch.cat([blank, flag + 1, r], -1), h)
            r = torch.einsum("bn,bnw->bw", self.reader.address(h, mem), mem)
            outs.append(self.out(torch.cat([h, r], -1)))
        return torch.stack(outs)


if __name__ == "__main__":
    torch.manual_seed(17)
    ntm = NTM()
    optimizer = torch.optim.RMSprop(ntm.parameters(), lr=2e-3, momentum=0.9)
    for episode in range(6):
        length = int(torch.randint(2, 5, ()))
        bits = torch.bernoulli(torch.full((length, 8, 4), 0.5))
        loss = F.binary_cross_entropy_with_logits(ntm(bits, length), bits)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        torch.nn.utils.clip_grad_value_(ntm.parameters(), 5)
        optimizer.step()
        print("episode %d (length %d): %.4f" % (episode, length, loss.item()))
