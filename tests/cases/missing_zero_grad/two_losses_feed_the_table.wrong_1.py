"""Recipes and ingredients: one table of vectors that two losses train, a head that only one does."""
import torch
import torch.nn.functional as F

torch.manual_seed(12)
INGREDIENTS, WIDTH = 30, 6
table = torch.nn.Embedding(INGREDIENTS, WIDTH)
head = torch.nn.Linear(WIDTH, 3)
table_optimizer = torch.optim.SGD(table.parameters(), lr=0.2)
head_optimizer = torch.optim.SGD(head.parameters(), lr=0.1)

for batch in range(12):
    recipes = torch.randint(0, INGREDIENTS, (16, 4))
    cuisine = recipes[:, 0] % 3
    head_optimizer.zero_grad()

    vectors = table(recipes)
    together = (vectors[:, 1:] - vectors[:, :1]).pow(2).mean()
    together.backward()

    scores = head(table(recipes).mean(1))
    table_optimizer.zero_grad()
    F.cross_entropy(scores, cuisine).backward()
    head_optimizer.step()
    table_optimizer.step()
print(f"{together.item():.4f}")
