import torch

torch.manual_seed(5)
# hive weight from temperature, humidity, buzz level
X = torch.randn(80, 3)
y = 2 * X[:, :1] - X[:, 2:] + 10

model = torch.nn.Sequential(torch.nn.Linear(3, 10), torch.nn.Sigmoid(), torch.nn.Linear(10, 1))
criterion = torch.nn.SmoothL1Loss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)

for epoch in range(1, 31):
    y_pred = model(X)
    loss = criterion(y_pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print('epoch {}: {:.4f}'.format(epoch, loss.item()))
