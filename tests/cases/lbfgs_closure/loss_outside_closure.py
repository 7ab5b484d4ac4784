# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(0, 1, 30).unsqueeze(1)
y = torch.cos(4 * x)
model = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)

for epoch in range(3):
    out = model(x)
    loss = criterion(out, y)  # expect: place

    def closure():
        optimizer.zero_grad()
        loss.backward()  # expect: place
        return loss

    optimizer.step(closure)
    print(epoch, loss.item())
