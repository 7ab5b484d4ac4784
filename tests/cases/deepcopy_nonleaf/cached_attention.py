# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = self.last_attention
import copy

import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.last_attention = None

    def forward(self, x):
        attention = torch.softmax(self.score(x), dim=1)
        self.last_attention = attention  # expect: place
        return (attention * x).sum(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.pool = Pooling(8)
        self.fc = nn.Linear(8, 2)

    def forward(self, tokens):
        return self.fc(self.pool(self.embed(tokens)))


torch.manual_seed(0)
model = Model()
best_model, best_loss = None, float("inf")
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    tokens = torch.randint(0, 20, (16, 6))
    loss = nn.functional.cross_entropy(model(tokens), (tokens[:, 0] > 9).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if loss.item() < best_loss:
        best_loss = loss.item()
        best_model = copy.deepcopy(model)  # expect: place
print("best", best_loss, "attention", model.pool.last_attention.max().item())
