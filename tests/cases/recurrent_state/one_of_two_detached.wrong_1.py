# LSTMCell policy for a toy tracking task; state is carried over episodes.
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(11)


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(2, 20)
        self.out = nn.Linear(20, 2)

    def forward(self, obs, state):
        h_t, c_t = self.cell(obs, state)
        return self.out(h_t), (h_t, c_t)


def repackage(state):
    h_t, c_t = state
    return h_t.detach(), c_t


tracker = Tracker()
opt = optim.RMSprop(tracker.parameters(), lr=1e-3)
mse = nn.MSELoss()
state = (torch.zeros(5, 20), torch.zeros(5, 20))

for episode in range(4):
    state = repackage(state)
    position = torch.randn(5, 2)
    velocity = 0.1 * torch.randn(5, 2)
    loss = 0
    for _ in range(6):
        guess, state = tracker(position, state)
        position = position + velocity
        loss = loss + mse(guess, position)
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print("episode %d  loss %.4f" % (episode, loss.item()))
