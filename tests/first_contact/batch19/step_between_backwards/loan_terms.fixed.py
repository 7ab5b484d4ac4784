"""
Loan decisions without the applicant's group in them: an adversary tries to guess the group from
the predicted score, the predictor tries to be right and to leave the adversary nothing.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(12)

N = 400
group = torch.randint(0, 2, (N, 1)).float()
income = torch.randn(N, 1) + 0.8 * group
debt = torch.randn(N, 1) - 0.3 * group
years = torch.rand(N, 1) * 10
X = torch.cat([income, debt, years / 10, torch.randn(N, 3)], dim=1)
paid_back = (income - debt + 0.1 * years + 0.5 * torch.randn(N, 1) > 0.7).float()


class Predictor(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Dropout(0.0), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)


class Adversary(nn.Module):
    # sees the score and the true outcome (equalised odds)
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, score, outcome):
        s = torch.sigmoid(score)
        return self.net(torch.cat([s, s * outcome, s * (1 - outcome)], dim=1))


predictor, adversary = Predictor(X.size(1)), Adversary()
opt_p = torch.optim.Adam(predictor.parameters(), lr=2e-3)
opt_a = torch.optim.Adam(adversary.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()

# the predictor alone for a while
for _ in range(20):
    opt_p.zero_grad()
    bce(predictor(X), paid_back).backward()
    opt_p.step()

for epoch in range(4):
    alpha = math.sqrt(epoch + 1)
    p_sum = a_sum = 0.0
    for idx in torch.randperm(N).split(100):
        x, y, g = X[idx], paid_back[idx], group[idx]
        score = predictor(x)
        guess = adversary(score, y)
        adv_loss = bce(guess, g)
        pred_loss = bce(score, y)

        # adversary
        opt_a.zero_grad()
        adv_loss.backward(retain_graph=True)
        opt_a.step()

        # predictor
        opt_p.zero_grad()
        loss = pred_loss - alpha * bce(adversary(score, y), g)
        loss.backward()
        opt_p.step()

        p_sum += pred_loss.item()
        a_sum += adv_loss.item()
    with torch.no_grad():
        gap = torch.sigmoid(predictor(X))[group == 1].mean() - torch.sigmoid(predictor(X))[group == 0].mean()
    print(f"epoch {epoch}  predictor {p_sum / 4:.3f}  adversary {a_sum / 4:.3f}  gap {gap:.3f}")
