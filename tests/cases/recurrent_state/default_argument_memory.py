# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = memory, memory["h"], hidden
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = "abcdefgh \n"
text = "bad cafe had a deaf hag\n" * 12

gru = nn.GRU(len(VOCAB), 20)
proj = nn.Linear(20, len(VOCAB))
params = [*gru.parameters(), *proj.parameters()]


def encode(s):
    return F.one_hot(torch.tensor([VOCAB.index(c) for c in s]), len(VOCAB)).float()


def forward(chunk, memory={"h": None}):
    inputs = encode(chunk[:-1]).unsqueeze(1)
    outputs, memory["h"] = gru(inputs, memory["h"])  # expect: place
    return proj(outputs.squeeze(1))


def sgd(lr):
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad = None


def run(length=24):
    for start in range(0, len(text) - length, length):
        chunk = text[start : start + length]
        target = torch.tensor([VOCAB.index(c) for c in chunk[1:]])
        loss = F.cross_entropy(forward(chunk), target)
        loss.backward()  # expect: place
        sgd(0.05)
        print(start, round(loss.item(), 3))


torch.manual_seed(1)
run()
