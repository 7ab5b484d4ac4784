# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = E, theta, position_embeddings, position_embeddings.weight
# Which step of a recipe is this sentence? Small transformer encoder, course exercise.
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


def create_sinusoidal_embeddings(nb_p, dim, E):
    theta = np.array([[p / np.power(10000, 2 * (j // 2) / dim) for j in range(dim)] for p in range(nb_p)])
    E[:, 0::2] = torch.FloatTensor(np.sin(theta[:, 0::2]))  # expect: place
    E[:, 1::2] = torch.FloatTensor(np.cos(theta[:, 1::2]))  # expect: place
    E.requires_grad = False
    E.detach_()


class Embeddings(nn.Module):
    def __init__(self, d_model, vocab_size, max_position_embeddings):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        create_sinusoidal_embeddings(  # expect: place
            nb_p=max_position_embeddings,
            dim=d_model,
            E=self.position_embeddings.weight  # expect: place
        )
        self.LayerNorm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, input_ids):
        position_ids = torch.arange(input_ids.size(1)).unsqueeze(0).expand_as(input_ids)
        return self.LayerNorm(self.word_embeddings(input_ids) + self.position_embeddings(position_ids))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_h = nn.Linear(d_model, d_model)

    def split_heads(self, x):
        return x.view(x.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)

    def forward(self, X):
        Q, K, V = self.split_heads(self.W_q(X)), self.split_heads(self.W_k(X)), self.split_heads(self.W_v(X))
        A = F.softmax(torch.matmul(Q / np.sqrt(self.d_k), K.transpose(2, 3)), dim=-1)
        H = torch.matmul(A, V).transpose(1, 2).contiguous().view(X.size(0), -1, self.num_heads * self.d_k)
        return self.W_h(H)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, conv_hidden_dim, p=0.1):
        super().__init__()
        self.mha = MultiHeadAttention(d_model, num_heads)
        self.k1convL1 = nn.Linear(d_model, conv_hidden_dim)
        self.k1convL2 = nn.Linear(conv_hidden_dim, d_model)
        self.layernorm1 = nn.LayerNorm(d_model)
        self.layernorm2 = nn.LayerNorm(d_model)

    def forward(self, x):
        out1 = self.layernorm1(x + self.mha(x))
        return self.layernorm2(out1 + self.k1convL2(F.relu(self.k1convL1(out1))))


class TransformerClassifier(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, conv_hidden_dim, input_vocab_size, num_answers):
        super().__init__()
        self.embedding = Embeddings(d_model, input_vocab_size, 50)
        self.enc_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, conv_hidden_dim) for _ in range(num_layers)])
        self.dense = nn.Linear(d_model, num_answers)

    def forward(self, x):
        x = self.embedding(x)
        for layer in self.enc_layers:
            x = layer(x)
        return self.dense(torch.max(x, dim=1)[0])


torch.manual_seed(0)
model = TransformerClassifier(num_layers=1, d_model=32, num_heads=2,
                              conv_hidden_dim=64, input_vocab_size=120, num_answers=5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    losses = 0
    for _ in range(6):
        y = torch.randint(0, 5, (16,))
        x = torch.randint(1, 20, (16, 10)) + 20 * y.unsqueeze(1)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += loss.item()
    print("epoch", epoch, "loss", losses / 6)
