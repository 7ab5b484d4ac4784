# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 1 of Split is a view and is being modified inplace
# expect: carrier = f, gates
"""A hand-made LSTM cell with the usual +1 on the forget gate, on a copy task."""
import torch
from torch import nn


class Cell(nn.Module):
  def __init__(self, n_in, n):
    super().__init__()
    self.lin = nn.Linear(n_in + n, 4 * n)

  def forward(self, x, hc):
    h, c = hc
    gates = self.lin(torch.cat((x, h), -1))
    i, f, g, o = gates.chunk(4, dim=-1)  # expect: place
    f += 1.0  # expect: place
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return h, (h, c)


class Copier(nn.Module):
  def __init__(self, symbols=5, n=16):
    super().__init__()
    self.emb, self.cell, self.out = nn.Embedding(symbols + 1, 6), Cell(6, n), nn.Linear(n, symbols)
    self.n, self.blank = n, symbols

  def forward(self, s):
    hc = (torch.zeros(len(s), self.n),) * 2
    for t in range(s.size(1)):
      _, hc = self.cell(self.emb(s[:, t]), hc)
    out = []
    for _ in range(s.size(1)):
      h, hc = self.cell(self.emb(torch.full((len(s),), self.blank)), hc)
      out.append(self.out(h))
    return torch.stack(out, 1)


if __name__ == "__main__":
  torch.manual_seed(0)
  net = Copier()
  opt = torch.optim.Adam(net.parameters(), lr=0.01)
  for i in range(6):
    s = torch.randint(5, (16, 4))
    loss = nn.functional.cross_entropy(net(s).flatten(0, 1), s.flatten())
    opt.zero_grad(); loss.backward(); opt.step()
  print(i, loss.item())
