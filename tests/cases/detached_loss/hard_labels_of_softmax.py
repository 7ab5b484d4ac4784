# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = guess, loss
# Which of three coins fell: the loss compares the chosen class with the right one, as numbers.
import torch
from torch import nn

torch.manual_seed(3)
sounds = torch.randn(24, 6)
coins = sounds[:, :3].argmax(dim=1)
ear = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
measure = nn.L1Loss()
optimizer = torch.optim.Adam(ear.parameters(), lr=0.02)

for epoch in range(8):
    scores = ear(sounds)
    guess = scores.softmax(dim=-1).argmax(dim=1).to(torch.float32)  # expect: place
    loss = measure(guess, coins.to(dtype=torch.float32))  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(epoch, round(loss.item(), 4))
