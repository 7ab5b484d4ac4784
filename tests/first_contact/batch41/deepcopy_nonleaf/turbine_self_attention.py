# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment
# expect: carrier = self.attention, self.attention_penalty, best_model, model
import copy

import numpy as np
import torch
import torch.nn as nn


class SeqSelfAttention(nn.Module):
    """additive self attention with a penalty that keeps the heads apart"""

    def __init__(self, input_dim, units, n_heads):
        super(SeqSelfAttention, self).__init__()
        self.w1 = nn.Linear(input_dim, units, bias=False)
        self.w2 = nn.Linear(units, n_heads, bias=False)
        self.attention = None
        self.attention_penalty = None

    def forward(self, h):
        self.attention = torch.softmax(self.w2(torch.tanh(self.w1(h))), dim=1).transpose(1, 2)  # expect: place
        eye = torch.eye(self.attention.size(1))
        self.attention_penalty = ((self.attention @ self.attention.transpose(1, 2) - eye) ** 2).sum((1, 2)).mean()  # expect: place
        return self.attention @ h


class FaultNet(nn.Module):
    def __init__(self, n_channels, n_classes, hidden=20, n_heads=3):
        super(FaultNet, self).__init__()
        self.rnn = nn.GRU(n_channels, hidden, batch_first=True, bidirectional=True)
        self.att = SeqSelfAttention(2 * hidden, 16, n_heads)
        self.fc = nn.Linear(2 * hidden * n_heads, n_classes)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.fc(self.att(h).flatten(1))


def make_turbines(n, rng):
    x = rng.normal(size=(n, 24, 4)).astype("float32")
    y = rng.integers(0, 3, size=n)
    for i, label in enumerate(y):
        at = rng.integers(4, 18)
        x[i, at:at + 4, label] += 2.0
    return torch.from_numpy(x), torch.from_numpy(y)


def accuracy(model, x, y):
    model.eval()
    out = model(x)
    return (out.argmax(1) == y).float().mean().item()


def fit(model, train, valid, epochs=4, batch_size=16, penalty=0.05):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    best_acc, best_model = -1.0, None
    x, y = train
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx]) + penalty * model.att.attention_penalty
            loss.backward()
            optimizer.step()
        acc = accuracy(model, *valid)
        print("epoch %d loss %.3f valid acc %.3f" % (epoch, loss.item(), acc))
        if acc > best_acc:
            best_acc = acc
            best_model = copy.deepcopy(model)  # expect: place
    return best_model, best_acc


if __name__ == "__main__":
    torch.manual_seed(42)
    rng = np.random.default_rng(42)
    train, valid, test = make_turbines(96, rng), make_turbines(48, rng), make_turbines(48, rng)
    model, best_acc = fit(FaultNet(4, 3), train, valid)
    print("best %.3f test %.3f" % (best_acc, accuracy(model, *test)))
    weights = model.att.attention[0].detach().numpy()
    print("first head looks at", weights[0].argmax(), "of", weights.shape[1])
