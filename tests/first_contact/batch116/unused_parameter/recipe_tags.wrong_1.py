# Tags recipes (soup / salad / cake / stew) from their list of ingredients.
# Trained with a bit of adversarial noise on the word vectors, which is said to help
# when there are so few recipes.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

N_WORDS = 60
N_TAGS = 4
LENGTH = 9
EPS = 0.5


class Tagger(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.words = nn.Embedding(N_WORDS, dim)
        self.attend = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, N_TAGS)

    def forward(self, ids=None, vectors=None):
        # either the ingredient ids or their vectors
        if ids is not None:
            vectors = self.words(ids)
        share = torch.softmax(self.attend(torch.tanh(vectors)), dim=1)
        return self.out((share * vectors).sum(dim=1))


def make_recipes(n):
    tags = torch.randint(0, N_TAGS, (n,))
    typical = torch.randint(0, 12, (n, LENGTH)) + 12 * tags.unsqueeze(1)
    anything = torch.randint(0, N_WORDS, (n, LENGTH))
    ids = torch.where(torch.rand(n, LENGTH) < 0.5, typical, anything)
    return ids, tags


def worst_nudge(model, ids, tags):
    """The direction in which the word vectors have to move to hurt the most."""
    vectors = model.words(ids).detach()
    nudge = (1e-3 * torch.randn_like(vectors)).requires_grad_()
    loss = F.cross_entropy(model(ids, vectors + nudge), tags)
    grad = torch.autograd.grad(loss, nudge, allow_unused=True)[0]
    if grad is None:
        grad = torch.zeros_like(nudge)
    return EPS * grad / (grad.norm(dim=(1, 2), keepdim=True) + 1e-8)


def training_loss(model, ids, tags):
    clean = F.cross_entropy(model(ids), tags)
    nudge = worst_nudge(model, ids, tags)
    hurt = F.cross_entropy(model(ids, model.words(ids) + nudge), tags)
    return clean, hurt


def accuracy(model, ids, tags):
    with torch.no_grad():
        return (model(ids).argmax(dim=1) == tags).float().mean().item()


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
train_ids, train_tags = make_recipes(96)
test_ids, test_tags = make_recipes(200)

for epoch in range(6):
    perm = torch.randperm(len(train_ids))
    sum_clean = 0.0
    sum_hurt = 0.0
    for i in range(0, len(train_ids), 32):
        pick = perm[i : i + 32]
        ids, tags = train_ids[pick], train_tags[pick]
        optimizer.zero_grad()
        clean, hurt = training_loss(model, ids, tags)
        loss = clean + 0.5 * hurt
        loss.backward()
        optimizer.step()
        sum_clean += clean.item()
        sum_hurt += hurt.item()
    print(
        "epoch", epoch,
        "clean %.3f" % (sum_clean / 3),
        "hurt %.3f" % (sum_hurt / 3),
        "test accuracy %.2f" % accuracy(model, test_ids, test_tags),
    )
