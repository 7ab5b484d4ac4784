"""Gradients of four micro-batches are averaged before a step; the loss is walked bare first."""
import torch
from torch import nn

torch.manual_seed(4)
tagger = nn.Sequential(nn.Embedding(30, 12), nn.Linear(12, 5))
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.3)
micro = 4
for batch in range(8):
    words = torch.randint(0, 30, (16,))
    loss = nn.functional.cross_entropy(tagger(words), words % 5)
    averaged = loss / micro
    averaged.backward()
    if (batch + 1) % micro == 0:
        optimizer.step()
        optimizer.zero_grad()
        print(batch, round(loss.item(), 4))
