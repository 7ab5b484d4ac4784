#!/usr/bin/env python3
# Which of two organisms does a stretch of codons come from. Single-head attention, no library parts.
import torch

torch.manual_seed(8)

num_codons, max_len, width = 64, 20, 12
num_epochs, batch_size = 12, 25


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = torch.nn.Parameter(0.3 * torch.randn(num_codons, width))
        self.query = torch.nn.Parameter(0.3 * torch.randn(width))
        self.value = torch.nn.Linear(width, 1)

    def forward(self, xs):
        es = self.codes[xs]
        ws = torch.softmax(torch.tanh(es) @ self.query, dim=1)
        return self.value((ws.unsqueeze(-1) * es).sum(1)).squeeze(1)


def sample(n):
    ys = torch.randint(0, 2, (n,))
    base = torch.randint(0, num_codons, (n, max_len))
    bias = torch.randint(0, 20, (n, max_len))
    use = (torch.rand(n, max_len) < 0.35) & (ys == 1).unsqueeze(1)
    return torch.where(use, bias, base), ys.float()


data_train, data_valid = sample(200), sample(50)
batches = [tuple(t[i : i + batch_size] for t in data_train) for i in range(0, 200, batch_size)]

model = Classifier()
probability = torch.nn.Sigmoid()
loss = torch.nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

history = []
for epoch in range(num_epochs):
    e_train = 0.0
    a_train = 0.0
    for xs_batch, ys_batch in batches:
        ls_batch = model(xs_batch)
        e_batch = loss(ls_batch, ys_batch)
        a_batch = 1.0 - (probability(ls_batch) - ys_batch).abs().mean()

        optimizer.zero_grad()
        e_batch.backward()
        optimizer.step()

        e_train += e_batch.item() / len(batches)  # Accumulate average loss
        a_train += a_batch / len(batches)  # Accumulate soft accuracy

    e_valid = loss(model(data_valid[0]), data_valid[1])
    history.append((e_train, a_train, e_valid))

    print(
        f"Epoch: {epoch}",
        f"Loss (train): {float(e_train):.4f}",
        f"Accuracy (train): {100.0 * float(a_train):.1f}%",
        f"Loss (valid): {float(e_valid):.4f}",
        sep="\t",
    )

best = min(range(num_epochs), key=lambda i: float(history[i][2]))
print("best epoch", best)
