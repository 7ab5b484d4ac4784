# expect: pattern = forward_outside_loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pred, y_pred
import torch

torch.manual_seed(5)
# hive weight from temperature, humidity, buzz level
X = torch.randn(80, 3)
y = 2 * X[:, :1] - X[:, 2:] + 10

model = torch.nn.Sequential(torch.nn.Linear(3, 10), torch.nn.Sigmoid(), torch.nn.Linear(10, 1))
criterion = torch.nn.SmoothL1Loss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)

y_pred = model(X)  # expect: place
for epoch in range(1, 31):
    loss = criterion(y_pred, y)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    if epoch % 10 == 0:
        print('epoch {}: {:.4f}'.format(epoch, loss.item()))
