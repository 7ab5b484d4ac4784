import os

import nni
import pandas as pd
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

from ranker.model import Scorer

params = nni.get_next_parameter()
df = pd.read_csv(os.path.join("data", "pairs.csv"))
X = StandardScaler().fit_transform(df[["length", "overlap", "bm25", "clicks"]].values)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(df["label"].values, dtype=torch.float32)
encoder, scorer = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16)), Scorer(16)
opt_enc = torch.optim.Adam(encoder.parameters(), lr=1e-3)
opt_score = torch.optim.Adam(scorer.parameters(), lr=1e-3)
for epoch in range(30):
    z = encoder(X)
    score = scorer(z).squeeze(1)
    rank_loss = nn.functional.binary_cross_entropy_with_logits(score, y)
    reg_loss = (score ** 2).mean() + z.pow(2).mean()
    opt_score.zero_grad()
    rank_loss.backward(retain_graph=True)
    opt_score.step()
    opt_enc.zero_grad()
    reg_loss.backward()
    opt_enc.step()
    nni.report_intermediate_result(rank_loss.item())
