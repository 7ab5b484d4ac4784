# A recommender scores against a table of normalised items, passed through a scoring function.
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=6):
        super().__init__()
        self.users, self.items = nn.Embedding(users, dim), nn.Embedding(items, dim)

    def item_table(self):
        return F.normalize(self.items.weight, dim=1)

    def forward(self, user, table):
        return 5 * F.normalize(self.users(user), dim=1) @ table.T


def train_epoch(model, loader, optimizer, score):
    losses = []
    for user, item in loader:
        loss = F.cross_entropy(score(user), item)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


torch.manual_seed(0)
model = TwoTower(10, 7)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randint(0, 10, (24,)), torch.randint(0, 7, (24,))), batch_size=8)
for epoch in range(2):
    table = model.item_table().detach()
    print(epoch, train_epoch(model, loader, optimizer, lambda user: model(user, table)))
