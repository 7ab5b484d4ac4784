# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Split is a view and is being modified inplace
# expect: carrier = q, query, qkv, in_proj, scaling
"""Sign recognition from two streams (hand joints and mouth shape). Each stream attends to the other.

torch 1.3 code that I am trying to bring to a new machine.
"""
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn import Parameter


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, attn_dropout=0.):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.attn_dropout = attn_dropout
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim
        self.scaling = self.head_dim ** -0.5

        self.in_proj_weight = Parameter(torch.Tensor(3 * embed_dim, embed_dim))
        self.in_proj_bias = Parameter(torch.Tensor(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.xavier_uniform_(self.out_proj.weight)
        nn.init.constant_(self.in_proj_bias, 0.)

    def forward(self, query, key, value):
        tgt_len, bsz, _ = query.size()
        same = query.data_ptr() == key.data_ptr() == value.data_ptr()

        if same:
            q, k, v = self._project(query, 0, 3).chunk(3, dim=-1)
        else:
            q = self._project(query, 0, 1)
            k, v = self._project(key, 1, 3).chunk(2, dim=-1)
        q *= self.scaling  # expect: place

        q = q.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        k = k.contiguous().view(-1, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        v = v.contiguous().view(-1, bsz * self.num_heads, self.head_dim).transpose(0, 1)

        weights = F.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1)
        weights = F.dropout(weights, p=self.attn_dropout, training=self.training)
        attn = torch.bmm(weights, v).transpose(0, 1).contiguous().view(tgt_len, bsz, self.embed_dim)
        return self.out_proj(attn)

    def _project(self, inp, start, end):
        d = self.embed_dim
        return F.linear(inp, self.in_proj_weight[start * d:end * d], self.in_proj_bias[start * d:end * d])


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = MultiheadAttention(dim, heads, attn_dropout=0.1)
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)
        self.norms = nn.ModuleList([nn.LayerNorm(dim) for _ in range(2)])

    def forward(self, x, other=None):
        residual = x
        x = self.norms[0](x)
        if other is None:
            x = self.attn(x, x, x)
        else:
            other = self.norms[0](other)
            x = self.attn(x, other, other)
        x = residual + x
        return x + self.fc2(F.relu(self.fc1(self.norms[1](x))))


class TwoStream(nn.Module):
    def __init__(self, hands=42, mouth=20, dim=24, signs=6):
        super().__init__()
        self.proj_h = nn.Conv1d(hands, dim, 1, bias=False)
        self.proj_m = nn.Conv1d(mouth, dim, 1, bias=False)
        self.h_with_m = Layer(dim, 4)
        self.m_with_h = Layer(dim, 4)
        self.mem = Layer(2 * dim, 4)
        self.out = nn.Linear(2 * dim, signs)

    def forward(self, hands, mouth):
        h = self.proj_h(hands.transpose(1, 2)).permute(2, 0, 1)
        m = self.proj_m(mouth.transpose(1, 2)).permute(2, 0, 1)
        h2 = self.h_with_m(h, m)
        m2 = self.m_with_h(m, h)
        last = self.mem(torch.cat([h2, m2], dim=2))[-1]
        return self.out(last)


torch.manual_seed(1111)
model = TwoStream()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
hands = torch.randn(64, 12, 42)
mouth = torch.randn(64, 12, 20)
labels = torch.randint(0, 6, (64,))

model.train()
for epoch in range(3):
    for i in range(0, 64, 16):
        model.zero_grad()
        preds = model(hands[i:i + 16], mouth[i:i + 16])
        loss = criterion(preds, labels[i:i + 16])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.8)
        optimizer.step()
    print("epoch", epoch, loss.item())
