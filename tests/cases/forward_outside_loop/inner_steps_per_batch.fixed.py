import torch
import torch.nn as nn

torch.manual_seed(3)
num_epochs, inner_steps = 2, 3
model = nn.Sequential(nn.Linear(9, 27), nn.ReLU(), nn.Dropout(0.0), nn.Linear(27, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = [(torch.randn(8, 9), torch.randint(0, 3, (8,))) for _ in range(3)]


def fit_batch(x, y):
    for _ in range(inner_steps):
        out = model(x)
        loss = nn.functional.nll_loss(out.log_softmax(dim=1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


for epoch in range(num_epochs):
    print(epoch, sum(fit_batch(x, y) for x, y in loader) / len(loader))
