import torch
import torch.nn as nn


class ECELoss(nn.Module):
    def __init__(self, n_bins=10):
        super().__init__()
        edges = torch.linspace(0, 1, n_bins + 1)
        self.bins = list(zip(edges[:-1].tolist(), edges[1:].tolist()))

    def forward(self, logits, labels):
        confidence, guess = logits.softmax(dim=1).max(dim=1)
        right = guess.eq(labels).float()
        ece = torch.zeros(())
        for low, high in self.bins:
            inside = confidence.gt(low) & confidence.le(high)
            if inside.any():
                gap = (confidence[inside].mean() - right[inside].mean()).abs()
                ece = ece + gap * inside.float().mean()
        return ece


class ModelWithTemperature(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.temperature = nn.Parameter(torch.ones(1) * 1.5)

    def forward(self, x):
        return self.temperature_scale(self.model(x))

    def temperature_scale(self, logits):
        return logits / self.temperature.expand(logits.size(0), logits.size(1))

    def set_temperature(self, valid_loader):
        nll_criterion, ece_criterion = nn.CrossEntropyLoss(), ECELoss()
        logits_list, labels_list = [], []
        for x, label in valid_loader:
            logits_list.append(self.model(x))  # expect: place
            labels_list.append(label)
        logits = torch.cat(logits_list)  # expect: place
        labels = torch.cat(labels_list)
        print("before: nll %.3f  ece %.3f" % (
            nll_criterion(logits, labels).item(), ece_criterion(logits, labels).item()))

        optimizer = torch.optim.LBFGS([self.temperature], lr=0.01, max_iter=50)

        def closure():
            optimizer.zero_grad()
            loss = nll_criterion(self.temperature_scale(logits), labels)  # expect: place
            loss.backward()  # expect: place
            return loss

        optimizer.step(closure)
        after = self.temperature_scale(logits)
        print("after: nll %.3f  ece %.3f" % (
            nll_criterion(after, labels).item(), ece_criterion(after, labels).item()))
        return self
