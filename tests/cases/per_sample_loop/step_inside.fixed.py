import torch

torch.manual_seed(0)
X = torch.linspace(-1, 1, 12).unsqueeze(1)
Y = X**3
model = torch.nn.Sequential(torch.nn.Linear(1, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(2):

    for i in range(len(X)):
        loss = (model(X[i]) - Y[i]).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
