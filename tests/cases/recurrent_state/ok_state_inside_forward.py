import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.cell = nn.GRUCell(8, 14)
        self.tag = nn.Linear(14, 4)
        self.last_hidden = None  # kept for inspection only

    def forward(self, tokens):
        hidden = torch.zeros(tokens.size(0), 14)
        logits = []
        for t in range(tokens.size(1)):
            hidden = self.cell(self.embed(tokens[:, t]), hidden)
            logits.append(self.tag(hidden))
        self.last_hidden = hidden
        return torch.stack(logits, dim=1)


torch.manual_seed(4)
tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters())
for epoch in range(4):
    tokens = torch.randint(0, 30, (6, 9))
    loss = nn.functional.cross_entropy(tagger(tokens).transpose(1, 2), tokens % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item(), tagger.last_hidden.norm().item())
