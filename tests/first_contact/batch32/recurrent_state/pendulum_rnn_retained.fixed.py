import torch
from torch import nn
import numpy as np

torch.manual_seed(1)

# hyper params
TIME_STEP = 12
INPUT_SIZE = 1
LR = 0.02


class RNN(nn.Module):
    def __init__(self):
        super(RNN, self).__init__()
        self.rnn = nn.RNN(
            input_size=INPUT_SIZE,
            hidden_size=24,
            num_layers=1,
            batch_first=True,
        )
        self.out = nn.Linear(24, 1)

    def forward(self, x, h_state):
        # x (batch, time_step, input_size)
        # h_state (n_layers, batch, hidden_size)
        r_out, h_state = self.rnn(x, h_state)
        outs = []
        for step in range(r_out.size(1)):
            outs.append(self.out(r_out[:, step, :]))
        return torch.stack(outs, dim=1), h_state


rnn = RNN()
optimizer = torch.optim.Adam(rnn.parameters(), lr=LR)
loss_func = nn.MSELoss()

h_state = None
for step in range(40):
    start, end = step * np.pi, (step + 1) * np.pi
    t = np.linspace(start, end, TIME_STEP, dtype=np.float32)
    angle = np.exp(-0.01 * t) * np.sin(1.4 * t)      # what the encoder reads
    speed = np.exp(-0.01 * t) * np.cos(1.4 * t)      # what we want

    x = torch.from_numpy(angle[np.newaxis, :, np.newaxis])
    y = torch.from_numpy(speed[np.newaxis, :, np.newaxis])

    prediction, h_state = rnn(x, h_state)
    h_state = h_state.detach()

    loss = loss_func(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print('step', step, 'loss', loss.item())
