import librosa
import torch
from tensorboard_logger import configure, log_value

from .features import frames
from .nets import Acoustic

configure("runs/speech")
net = Acoustic(20)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
ctc = torch.nn.MSELoss()
total = 0
for epoch in range(3):
    for x, y in frames("corpus/train.json"):
        total = total + ctc(net(x), y)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    log_value("loss", float(total), epoch)
