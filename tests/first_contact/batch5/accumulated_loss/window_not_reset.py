# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = window, loss
# crop yield from weather windows; memory only allows 5 plots at a time, so average 4 before stepping
import torch
from torch import nn

torch.manual_seed(0)
EVERY = 4

weather = torch.randn(60, 12, 3)                     # plots x weeks x (rain, sun, heat)
crop = weather[:, :, 0].sum(1) * 0.4 - weather[:, 4:8, 2].pow(2).mean(1)

conv = nn.Conv1d(3, 8, 3)
head = nn.Linear(8, 1)
params = list(conv.parameters()) + list(head.parameters())
sgd = torch.optim.SGD(params, lr=0.03, momentum=0.9)


def yield_of(w):
    feats = torch.relu(conv(w.transpose(1, 2))).mean(2)
    return head(feats).squeeze(1)


for season in range(3):
    window = 0.0
    for i, idx in enumerate(torch.randperm(60).split(5), 1):
        loss = (yield_of(weather[idx]) - crop[idx]).pow(2).mean()
        window = window + loss / EVERY  # expect: place
        if i % EVERY == 0:
            sgd.zero_grad()
            # window.backward(retain_graph=True)   # other error
            window.backward()  # expect: place
            sgd.step()
            print("season", season, "window", i // EVERY, "%.4f" % window.item())
