import torch.nn as nn


class ImageTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.GELU(), nn.Conv2d(8, dim, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        return self.proj(self.net(x))


class TextTower(nn.Module):
    def __init__(self, dim, vocab):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True)
        self.ln_final = nn.LayerNorm(dim)

    def forward(self, embedded):
        return self.ln_final(self.block(embedded))[:, -1]
