import numpy as np
import torch
import torch.nn as nn


def create_sinusoidal_embeddings(nb_p, dim, E):
    theta = np.array([[p / np.power(10000, 2 * (j // 2) / dim) for j in range(dim)] for p in range(nb_p)])
    E = E.clone().detach()
    E[:, 0::2] = torch.FloatTensor(np.sin(theta[:, 0::2]))
    E[:, 1::2] = torch.FloatTensor(np.cos(theta[:, 1::2]))
    E.requires_grad = False


class Embeddings(nn.Module):
    def __init__(self, n_codes, d_model, max_len):
        super().__init__()
        self.code_embeddings = nn.Embedding(n_codes, d_model, padding_idx=0)
        self.position_embeddings = nn.Embedding(max_len, d_model)
        create_sinusoidal_embeddings(nb_p=max_len, dim=d_model, E=self.position_embeddings.weight)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, codes):
        positions = torch.arange(codes.size(1)).unsqueeze(0).expand_as(codes)
        return self.layer_norm(self.code_embeddings(codes) + self.position_embeddings(positions))


class TideTransformer(nn.Module):
    def __init__(self, n_codes, d_model=16, n_heads=2, max_len=20, n_out=3):
        super().__init__()
        self.embedding = Embeddings(n_codes, d_model, max_len)
        self.encoder = nn.TransformerEncoderLayer(d_model, n_heads, 32, dropout=0.0, batch_first=True)
        self.dense = nn.Linear(d_model, n_out)

    def forward(self, codes):
        h = self.encoder(self.embedding(codes))
        h, _ = h.max(dim=1)
        return self.dense(h)


def make_batchs(n, length, n_codes, g):
    codes = torch.randint(1, n_codes, (n, length), generator=g)
    label = (codes[:, :length // 2].sum(1) > codes[:, length // 2:].sum(1)).long()
    label[codes[:, 0] == codes[:, -1]] = 2
    return codes, label


if __name__ == "__main__":
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(8)
    codes, label = make_batchs(96, 12, 9, g)
    model = TideTransformer(n_codes=9)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=2e-3)
    for epoch in range(3):
        correct = 0
        for i in range(0, 96, 24):
            out = model(codes[i:i + 24])
            loss = nn.functional.cross_entropy(out, label[i:i + 24])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (out.argmax(1) == label[i:i + 24]).sum().item()
        print("epoch", epoch, "loss", loss.item(), "acc", correct / 96)
