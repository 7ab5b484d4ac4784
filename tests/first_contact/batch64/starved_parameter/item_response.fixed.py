# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = table, rows
import torch
import torch.nn as nn
import torch.nn.functional as F

# Two-parameter item response model for the placement test.
# 80 pupils, 30 questions, every question practises one of 5 skills.

torch.manual_seed(2024)

N_PUPILS = 80
N_ITEMS = 30
N_SKILLS = 5
skill_of = torch.arange(N_ITEMS) % N_SKILLS


def simulate():
    ability = torch.randn(N_PUPILS)
    difficulty = torch.randn(N_ITEMS) + torch.linspace(-1, 1, N_SKILLS)[skill_of]
    slope = torch.rand(N_ITEMS) + 0.6
    logit = slope * (ability[:, None] - difficulty)
    answer = torch.bernoulli(torch.sigmoid(logit))
    asked = torch.rand(N_PUPILS, N_ITEMS) < 0.7
    who, what = asked.nonzero(as_tuple=True)
    return who, what, answer[who, what], difficulty


class TwoParameterModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.ability = nn.Embedding(N_PUPILS, 1)
        self.skill = nn.Parameter(torch.zeros(N_SKILLS))
        self.offset = nn.Parameter(torch.zeros(N_ITEMS))
        self.log_slope = nn.Parameter(torch.zeros(N_ITEMS))
        nn.init.normal_(self.ability.weight, std=0.1)

    def item_table(self):
        """One row per question: difficulty, slope."""
        rows = []
        for q in range(N_ITEMS):
            difficulty = self.skill[skill_of[q]] + self.offset[q]
            slope = torch.exp(self.log_slope[q])
            rows.append(torch.stack([difficulty, slope]))  # expect: place
        return torch.stack(rows)

    def forward(self, who, what):
        table = self.item_table()  # expect: place
        difficulty, slope = table[what].unbind(1)  # expect: place
        theta = self.ability(who).squeeze(1)
        return slope * (theta - difficulty)

    def penalty(self):
        return 0.05 * self.ability.weight.pow(2).mean()


who, what, answer, true_difficulty = simulate()
model = TwoParameterModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

for epoch in range(9):
    order = torch.randperm(len(who))
    total, n = 0.0, 0
    for idx in order.split(256):
        logit = model(who[idx], what[idx])
        loss = F.binary_cross_entropy_with_logits(logit, answer[idx]) + model.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
        n += len(idx)
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "loss", round(total / n, 4))

table = model.item_table()
hardest = table[:, 0].detach().topk(5).indices.tolist()
print("hardest questions:", hardest)
print("really hardest:   ", true_difficulty.topk(5).indices.tolist())
