import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Client:
    """One bee yard. Data stay here, weights travel."""

    def __init__(self, name, data, model, lr, local_epochs, batch_size=16):
        self.name = name
        x, y = data
        cut = int(0.75 * len(x))
        self.train_loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=batch_size, shuffle=True)
        self.test_data = (x[cut:], y[cut:])
        self.train_samples = cut
        self.model = copy.deepcopy(model)
        self.loss = nn.CrossEntropyLoss()
        self.local_epochs = local_epochs
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def set_parameters(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.data = theirs.data.clone()

    def train(self):
        self.model.train()
        for _ in range(self.local_epochs):
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = self.loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()

    def test(self):
        self.model.eval()
        x, y = self.test_data
        output = self.model(x)
        loss = self.loss(output, y)
        correct = (torch.argmax(output, dim=1) == y).sum().item()
        return correct, loss.item(), y.shape[0]
