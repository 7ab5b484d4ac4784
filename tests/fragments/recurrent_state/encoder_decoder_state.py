# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.GRUCell(8, 8)

    def forward(self, x, s):
        s = self.g(x, s)
        return s, s


encoder = Enc()
decoder = nn.Linear(8, 8)
enc_optim = optim.SGD(encoder.parameters(), 0.01)
dec_optim = optim.SGD(decoder.parameters(), 0.01)
state = torch.zeros(4, 8)
dataloader = [{"src": torch.randn(4, 8), "tgt": torch.randn(4, 8)} for _ in range(3)]
criterion = nn.MSELoss()
# paste: begin
for i, batch in enumerate(dataloader):
    enc_optim.zero_grad()
    dec_optim.zero_grad()
    enc_out, state = encoder(batch["src"], state)  # expect: place
    dec_out = decoder(enc_out)
    loss = criterion(dec_out, batch["tgt"])
    loss.backward()  # expect: place
    enc_optim.step()
    dec_optim.step()
# paste: end
