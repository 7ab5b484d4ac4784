# expect: pattern = inplace-leaf
# expect: also = inplace-view
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = self.lookup.weight, self.pos
import torch
from torch import nn

PAD = 0


class BagOfWords(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.lookup = nn.Embedding(vocab, dim)
        self.lookup.weight[PAD] = torch.zeros(dim)  # expect: place
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        mask = (tokens != PAD).float().unsqueeze(-1)
        summed = (self.lookup(tokens) * mask).sum(1)
        return self.out(summed / mask.sum(1).clamp(min=1))


torch.manual_seed(12)
model = BagOfWords(vocab=40, dim=10, classes=2)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
docs = torch.randint(0, 40, (30, 7))
labels = (docs.sum(1) % 2).long()
for epoch in range(4):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(docs), labels)
    loss.backward()
    opt.step()
    print(epoch, float(loss))
