import torch
from torch import nn

from model import WordModel
from utils import batchify, repackage_hidden

torch.manual_seed(1111)
BPTT = 6
corpus = batchify(torch.randint(0, 25, (200,)), batch_size=5)
model = WordModel(25, 10, 14)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
hidden = model.init_hidden(5)
for batch, i in enumerate(range(0, 24, BPTT)):
    data, targets = corpus[i : i + BPTT], corpus[i + 1 : i + 1 + BPTT]
    hidden = repackage_hidden(hidden)
    output, hidden = model(data, hidden)
    loss = nn.functional.cross_entropy(output, targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
