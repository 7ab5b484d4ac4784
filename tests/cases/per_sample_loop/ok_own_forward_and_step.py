import torch
from torch import nn


def train_online(model, samples, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for features, target in samples:
        optimizer.zero_grad()
        prediction = model(features)
        loss = nn.functional.mse_loss(prediction, target)
        loss.backward()
        optimizer.step()
        yield loss.item()


torch.manual_seed(9)
stream = [(torch.randn(4), torch.randn(1)) for _ in range(8)]
print(list(train_online(nn.Linear(4, 1), stream, lr=0.01)))
