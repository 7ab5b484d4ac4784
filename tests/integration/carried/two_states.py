"""An encoder's and a decoder's state, both handed on from batch to batch."""

import torch
import torch.nn as nn

torch.manual_seed(8)
encoder = nn.GRU(3, 4)
decoder = nn.LSTM(4, 4)
project = nn.Linear(4, 3)
modules = nn.ModuleList([encoder, decoder, project])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)

enc_state = torch.zeros(1, 2, 4)
dec_state = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
for epoch in range(2):
    for _ in range(3):
        source = torch.randn(5, 2, 3)
        codes, enc_state = encoder(source, enc_state)
        decoded, dec_state = decoder(codes, dec_state)
        loss = (project(decoded) - source).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
