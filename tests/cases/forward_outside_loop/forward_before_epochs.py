# expect: pattern = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = y_pred, output
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 40).view(-1, 1)
y = torch.sin(x)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)

y_pred = model(x)  # expect: place

for epoch in range(5):
    loss = loss_fn(y_pred, y)  # expect: place
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
