# expect: pattern = missing-zero-grad
# expect: carrier = table_opt
# Two-tower retrieval: which recipe does a shopping basket lead to? Ingredient
# vectors have their own optimizer, since plain SGD suits the rarely hit rows.
import torch
from torch import nn
import torch.nn.functional as F

N_INGREDIENTS, N_RECIPES, DIM = 60, 24, 12


class BasketTower(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table
        self.project = nn.Sequential(nn.Linear(DIM, 24), nn.ReLU(), nn.Linear(24, DIM))

    def forward(self, basket):
        return F.normalize(self.project(self.table(basket).mean(1)), dim=1)


class RecipeTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = nn.Parameter(0.3 * torch.randn(N_RECIPES, DIM))
        self.project = nn.Linear(DIM, DIM)

    def forward(self, recipe):
        return F.normalize(self.project(self.names[recipe]), dim=1)


def purchases(n, generator):
    recipe = torch.randint(0, N_RECIPES, (n,), generator=generator)
    shift = torch.randint(0, 6, (n, 5), generator=generator)
    basket = (recipe[:, None] * 5 + shift * 2) % N_INGREDIENTS
    return basket, recipe


def in_batch_cost(b, r, recipe, temperature=0.2):
    sim = b @ r.t() / temperature
    same = recipe[:, None] == recipe[None, :]
    same.fill_diagonal_(False)
    sim = sim.masked_fill(same, -1e4)
    target = torch.arange(len(b))
    return 0.5 * (F.cross_entropy(sim, target) + F.cross_entropy(sim.t(), target))


torch.manual_seed(31)
gen = torch.Generator().manual_seed(310)
ingredients = nn.Embedding(N_INGREDIENTS, DIM)
basket_tower = BasketTower(ingredients)
recipe_tower = RecipeTower()

tower_opt = torch.optim.Adam(
    [*basket_tower.project.parameters(), *recipe_tower.parameters()], lr=3e-3)
table_opt = torch.optim.SGD(ingredients.parameters(), lr=0.5)

for epoch in range(4):
    total = 0.0
    for _ in range(10):
        basket, recipe = purchases(32, gen)
        cost = in_batch_cost(basket_tower(basket), recipe_tower(recipe), recipe)
        tower_opt.zero_grad()  # expect: place
        cost.backward()
        tower_opt.step()
        table_opt.step()  # expect: place
        total += cost.item()
    with torch.no_grad():
        basket, recipe = purchases(200, gen)
        everything = recipe_tower(torch.arange(N_RECIPES))
        hit = (basket_tower(basket) @ everything.t()).argmax(1).eq(recipe).float().mean()
    print(f"epoch {epoch}: cost {total / 10:.4f}  hit@1 {hit.item():.3f}  "
          f"table norm {ingredients.weight.norm().item():.2f}")
