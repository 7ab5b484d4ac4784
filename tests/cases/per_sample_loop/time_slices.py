# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = outputs, y_hat
# Many-to-many GRU; each time step is scored on its own.
import torch
import torch.nn as nn


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 10, batch_first=True)
        self.linear = nn.Linear(10, 4)

    def forward(self, x):
        y, _ = self.gru(x)
        return self.linear(y)


def train_batch(model, optimizer, x, y):
    optimizer.zero_grad()
    outputs = model(x)  # expect: place
    total = 0.0
    for t in range(x.size(1)):
        step_loss = nn.functional.mse_loss(outputs[:, t], y[:, t])
        step_loss.backward()  # expect: place
        total += step_loss.item()
    optimizer.step()
    return total / x.size(1)


torch.manual_seed(5)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(3):
    x = torch.randn(6, 5, 4)
    print(train_batch(model, optimizer, x, x.cumsum(1)))
