# Tide gauge: predict the next height from the past day with a small encoder
import numpy as np
import torch
import torch.nn as nn


def sinusoidal_init(max_len, d_model, E):
    theta = np.array([[p / np.power(10000, 2 * (j // 2) / d_model) for j in range(d_model)] for p in range(max_len)])
    E[:, 0::2] = torch.FloatTensor(np.sin(theta[:, 0::2]))
    E[:, 1::2] = torch.FloatTensor(np.cos(theta[:, 1::2]))


class Embeddings(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.value = nn.Linear(1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.positions.weight.requires_grad_(False)
        sinusoidal_init(max_len, d_model, E=self.positions.weight)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, heights):
        ids = torch.arange(heights.size(1), dtype=torch.long, device=heights.device)
        ids = ids.unsqueeze(0).expand(heights.size(0), -1)
        return self.norm(self.value(heights.unsqueeze(-1)) + self.positions(ids))


class TideEncoder(nn.Module):
    def __init__(self, d_model=16, heads=2, max_len=24):
        super().__init__()
        self.embed = Embeddings(d_model, max_len)
        self.attn = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, 32), nn.ReLU(), nn.Linear(32, d_model))
        self.out = nn.Linear(d_model, 1)

    def forward(self, heights):
        x = self.embed(heights)
        a, _ = self.attn(x, x, x)
        x = x + a
        x = x + self.ff(x)
        return self.out(x[:, -1]).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    hours = torch.arange(600.0)
    tide = torch.sin(2 * np.pi * hours / 12.42) + 0.3 * torch.sin(2 * np.pi * hours / 24.07)
    windows = tide.unfold(0, 25, 1)

    model = TideEncoder()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(15):
        idx = torch.randint(0, windows.size(0), (32,))
        past, nxt = windows[idx, :24], windows[idx, 24]
        loss = nn.functional.mse_loss(model(past), nxt)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(step, round(loss.item(), 4))
