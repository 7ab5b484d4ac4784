# expect: pattern = recurrent-state
# expect: also = step-between-backwards, retain-graph-leak
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = self.hidden, model.hidden, hidden
import torch
import torch.nn as nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self, channels=5, width=8):
        super().__init__()
        self.width = width
        self.lstm = nn.LSTM(channels, width, batch_first=True)
        self.out = nn.Linear(width, 2)

    def reset(self, rows):
        self.hidden = (torch.zeros(1, rows, self.width), torch.zeros(1, rows, self.width))

    def forward(self, x):
        y, self.hidden = self.lstm(x, self.hidden)  # expect: place
        return self.out(y[:, -1])


model = Reader()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for recording in range(2):
    model.reset(4)
    for window in range(5):
        x, y = torch.randn(4, 7, 5), torch.randint(0, 2, (4,))
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward(retain_graph=True)  # expect: place
        optimizer.step()  # expect: place
    print(recording, loss.item())
