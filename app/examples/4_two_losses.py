"""Two losses on one trunk, two backwards

A shared body predicts a class and a value, and backward is called on each loss by itself.
"""

import torch
from torch import nn

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.classify = nn.Linear(48, 4)
        self.regress = nn.Linear(48, 1)

    def forward(self, inputs):
        shared = self.body(inputs)
        return self.classify(shared), self.regress(shared)


model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(256, 12)
labels = inputs[:, :4].argmax(dim=1)
values = inputs.sum(dim=1, keepdim=True)

for epoch in range(10):
    for chosen in torch.randperm(256).split(64):
        logits, predicted = model(inputs[chosen])
        class_loss = nn.functional.cross_entropy(logits, labels[chosen])
        value_loss = nn.functional.mse_loss(predicted, values[chosen])
        optimizer.zero_grad()
        class_loss.backward()
        value_loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {class_loss.item():.3f} {value_loss.item():.3f}")
