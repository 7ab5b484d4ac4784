import torch
from torch import nn


class Seq2Point(nn.Module):
    """Predicts the next `horizon` values from its own previous prediction."""

    def __init__(self, dim=3, hidden=20, horizon=6):
        super().__init__()
        self.horizon = horizon
        self.encoder = nn.GRU(dim, hidden, batch_first=True)
        self.step = nn.GRUCell(dim, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, past):
        _, h = self.encoder(past)
        h = h[0]
        outputs = past.new_zeros(past.size(0), self.horizon, past.size(2))
        outputs[:, 0] = self.out(h)
        for t in range(1, self.horizon):
            h = self.step(outputs[:, t - 1].clone(), h)
            outputs[:, t] = outputs[:, t - 1] + self.out(h)
        return outputs


if __name__ == "__main__":
    torch.manual_seed(1)
    model = Seq2Point()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(3):
        walk = torch.randn(8, 14, 3).cumsum(1)
        forecast = model(walk[:, :8])
        loss = (forecast - walk[:, 8:]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(step, loss.item())
