# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)


class Tagger(nn.Module):
    def __init__(self, vocab=20, dim=8, tags=5):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, words):
        steps, batch = words.shape
        logits = torch.zeros(steps, batch, self.out.out_features)
        h = torch.zeros(batch, self.cell.hidden_size)
        for t, w in enumerate(words):
            h = self.cell(self.emb(w), h)
            logits[t] = self.out(h)
        return logits


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    words = torch.randint(0, 20, (6, 9))
    loss = nn.functional.cross_entropy(net(words).flatten(0, 1), (words % 5).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("%.4f" % loss.item())
