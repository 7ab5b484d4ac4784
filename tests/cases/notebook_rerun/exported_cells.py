# expect: pattern = notebook-rerun
# expect: also = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
words = torch.randint(0, 30, (40, 6))
tags = (words.sum(1) % 3).long()

# %%
model = nn.Sequential(nn.EmbeddingBag(30, 10), nn.ReLU(), nn.Linear(10, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

# %%
scores = model(words)
loss = F.cross_entropy(scores, tags)  # expect: place
print("loss", loss.item())

# %%
optimizer.zero_grad()
loss.backward()
optimizer.step()

# %%
optimizer.zero_grad()
loss.backward()  # expect: place
optimizer.step()
