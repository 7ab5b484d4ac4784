# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = model.state, self.state
import torch
from torch import nn, optim

torch.manual_seed(0)
rounds = 2
tide_loader = [(torch.randn(6, 1, 5), torch.randn(1, 2)) for _ in range(3)]
compare = nn.MSELoss()


# paste: begin
class TideModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(5, 9, num_layers=2)
        self.out = nn.Linear(9, 2)
        self.state = (torch.zeros(2, 1, 9), torch.zeros(2, 1, 9))

    def forward(self, window):
        seen, self.state = self.memory(window, self.state)  # expect: place
        return self.out(seen[-1])


model = TideModel()
optimizer = optim.Adam(model.parameters())
for _ in range(rounds):
    for window, levels in tide_loader:
        optimizer.zero_grad()
        loss = compare(model(window), levels)
        loss.backward()  # expect: place
        optimizer.step()
# paste: end
