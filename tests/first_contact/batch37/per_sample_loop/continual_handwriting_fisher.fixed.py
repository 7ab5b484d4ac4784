from copy import deepcopy

import torch
from torch import nn
from torch.nn import functional as F
import torch.utils.data


class EWC(object):
    """Elastic weight consolidation; diagonal of the Fisher matrix from the samples of the old tasks."""

    def __init__(self, model: nn.Module, dataset: torch.Tensor, batch_size: int = 25):
        self.model = model
        self.dataset = dataset
        self.batch_size = batch_size
        self.params = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self._means = {}
        self._precision_matrices = self._diag_fisher()
        for n, p in deepcopy(self.params).items():
            self._means[n] = p.detach()

    def _diag_fisher(self):
        precision_matrices = {}
        for n, p in deepcopy(self.params).items():
            p.data.zero_()
            precision_matrices[n] = p.data

        self.model.eval()
        for batch in self.dataset.split(self.batch_size):
            # squares have to be taken sample by sample, hence no mean over the batch here
            for i in range(len(batch)):
                self.model.zero_grad()
                output = self.model(batch[i:i + 1])
                loss = F.nll_loss(F.log_softmax(output, dim=1), output.max(1)[1])
                loss.backward()
                for n, p in self.model.named_parameters():
                    precision_matrices[n].data += p.grad.data ** 2 / len(self.dataset)
        return precision_matrices

    def penalty(self, model: nn.Module):
        loss = 0
        for n, p in model.named_parameters():
            _loss = self._precision_matrices[n] * (p - self._means[n]) ** 2
            loss += _loss.sum()
        return loss


def normal_train(model, optimizer, data_loader):
    model.train()
    epoch_loss = 0
    for input, target in data_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    return epoch_loss / len(data_loader)


def ewc_train(model, optimizer, data_loader, ewc, importance):
    model.train()
    epoch_loss = 0
    for input, target in data_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(input), target) + importance * ewc.penalty(model)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    return epoch_loss / len(data_loader)


class MLP(nn.Module):
    def __init__(self, hidden_size=32):
        super(MLP, self).__init__()
        self.fc1 = nn.Linear(49, hidden_size)
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.fc3 = nn.Linear(hidden_size, 5)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def writers(n_tasks, n=100):
    """Five letter shapes on a 7 x 7 grid; every writer has the pixels somewhere else."""
    shapes = (torch.rand(5, 49) > 0.6).float()
    for _ in range(n_tasks):
        perm = torch.randperm(49)
        y = torch.randint(0, 5, (n,))
        yield torch.utils.data.TensorDataset(shapes[y][:, perm] + 0.2 * torch.randn(n, 49), y)


if __name__ == "__main__":
    torch.manual_seed(2)
    epochs, importance, old = 2, 100.0, []
    model = MLP()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for task, data in enumerate(writers(2)):
        loader = torch.utils.data.DataLoader(data, batch_size=25, shuffle=True)
        ewc = EWC(model, torch.cat(old)) if old else None
        for _ in range(epochs):
            if ewc is None:
                loss = normal_train(model, optimizer, loader)
            else:
                loss = ewc_train(model, optimizer, loader, ewc, importance)
            print("task", task, "loss", round(loss, 4))
        old.append(data.tensors[0][:40])
