# expect: pattern = none
# expect: raises = nothing
import math
import torch
from torch import nn

torch.manual_seed(8)
corpus = torch.randint(0, 12, (4, 61))


def repackage(h):
    return h.detach() if torch.is_tensor(h) else tuple(repackage(v) for v in h)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 8)
        self.rnn = nn.LSTM(8, 16, num_layers=2, batch_first=True)
        self.out = nn.Linear(16, 12)

    def forward(self, ids, hidden):
        y, hidden = self.rnn(self.emb(ids), hidden)
        return self.out(y), hidden


model = LM()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(2):
    hidden = tuple(torch.zeros(2, 4, 16) for _ in range(2))
    total, count = 0.0, 0
    for i in range(0, 60, 15):
        hidden = repackage(hidden)
        logits, hidden = model(corpus[:, i:i + 15], hidden)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), corpus[:, i + 1:i + 16].flatten())
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    print("epoch", epoch, "perplexity", math.exp(total / count))
