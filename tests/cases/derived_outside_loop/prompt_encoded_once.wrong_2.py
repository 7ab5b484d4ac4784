# Prompt tuning: a small reparametrisation network makes the prompt of a frozen model.
from types import SimpleNamespace
import torch
import torch.nn as nn

torch.manual_seed(30)
cfg = SimpleNamespace(vocab=25, dim=12, prompt_len=3, steps=4, lr=5e-3)

backbone = nn.TransformerEncoderLayer(cfg.dim, nhead=2, dim_feedforward=24, dropout=0.0, batch_first=True)
embed = nn.Embedding(cfg.vocab, cfg.dim)
for p in [*backbone.parameters(), *embed.parameters()]:
    p.requires_grad = False

raw_prompt = nn.Parameter(torch.randn(cfg.prompt_len, cfg.dim) * 0.5)
reparam = nn.Sequential(nn.Linear(cfg.dim, cfg.dim), nn.Tanh(), nn.Linear(cfg.dim, cfg.dim))
head = nn.Linear(cfg.dim, 2)
optimizer = torch.optim.Adam([raw_prompt, *reparam.parameters(), *head.parameters()], lr=cfg.lr)

prompt = nn.Parameter(reparam(raw_prompt))


def classify(tokens):
    prefix = prompt.unsqueeze(0).expand(len(tokens), -1, -1)
    hidden = backbone(torch.cat([prefix, embed(tokens)], dim=1))
    return head(hidden.mean(dim=1))


for step in range(cfg.steps):
    tokens = torch.randint(0, cfg.vocab, (8, 5))
    labels = (tokens[:, 0] > 12).long()
    loss = nn.functional.cross_entropy(classify(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
