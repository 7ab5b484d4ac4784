# expect: pattern = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pred, y_pred
import torch
import numpy as np
from torch.autograd import Variable

torch.manual_seed(5)
#device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
device = 'cpu'

# hive weight from temperature, humidity, buzz level
X = torch.randn(80, 3).to(device)
y = 2 * X[:, :1] - X[:, 2:] + 10

model = torch.nn.Sequential(torch.nn.Linear(3, 10), torch.nn.Sigmoid(), torch.nn.Linear(10, 1)).to(device)
#criterion = torch.nn.MSELoss()
criterion = torch.nn.SmoothL1Loss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)

y_pred = model(X)  # expect: place
for epoch in range(1, 31):
    loss = criterion(y_pred, y)
    #loss = Variable(loss, requires_grad=True)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    #loss.backward(retain_graph=True)
    optimizer.step()
    if epoch % 10 == 0:
        print('epoch {}: {:.4f}'.format(epoch, loss.item()))
