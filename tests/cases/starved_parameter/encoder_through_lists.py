# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = self.embed
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.fc = nn.Linear(12, 3)

    def encode(self, tokens):
        out, h = self.rnn(self.embed(tokens))
        return torch.tensor(h[-1].tolist())  # expect: place

    def forward(self, tokens):
        return self.fc(self.encode(tokens))


torch.manual_seed(0)
model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    tokens, labels = torch.randint(0, 20, (6, 9)), torch.randint(0, 3, (6,))
    loss = nn.functional.cross_entropy(model(tokens), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
