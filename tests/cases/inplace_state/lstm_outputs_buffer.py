# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = hs, cs
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        self.cell = nn.LSTMCell(n_in, n_hid)
        self.n_hid = n_hid

    def forward(self, seq):
        T, B, _ = seq.shape
        hs = torch.zeros(T + 1, B, self.n_hid)
        cs = torch.zeros(T + 1, B, self.n_hid)
        for t in range(T):
            hs[t + 1], cs[t + 1] = self.cell(seq[t], (hs[t], cs[t]))  # expect: place
        return hs[1:]


torch.manual_seed(0)
encoder, head = Encoder(4, 16), nn.Linear(16, 1)
opt = torch.optim.Adam(list(encoder.parameters()) + list(head.parameters()), lr=5e-3)

for epoch in range(3):
    seq = torch.randn(10, 8, 4)
    target = seq.cumsum(0)[..., :1]
    loss = nn.functional.mse_loss(head(encoder(seq)), target)
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
