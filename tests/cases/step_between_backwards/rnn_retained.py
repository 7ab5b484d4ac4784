# expect: pattern = step-between-backwards
# expect: also = recurrent-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = hidden
import torch
from torch import nn

torch.manual_seed(5)
text = "the quick brown fox jumps over the lazy dog " * 6
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(c) for c in text])

embed = nn.Embedding(len(vocab), 12)
rnn = nn.GRU(12, 24, batch_first=True)
out = nn.Linear(24, len(vocab))
params = [p for m in (embed, rnn, out) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=3e-3)

seq = 20
hidden = torch.zeros(1, 1, 24)
for i in range(0, 100, seq):
    x, y = ids[i:i + seq].unsqueeze(0), ids[i + 1:i + seq + 1]
    output, hidden = rnn(embed(x), hidden)  # expect: place
    loss = nn.functional.cross_entropy(out(output[0]), y)
    opt.zero_grad()
    loss.backward(retain_graph=True)  # expect: place
    opt.step()  # expect: place
    print(f"{i:4d} {loss.item():.4f}")
