# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = temperature, self.log_t, log_t
"""Match product photos (as feature vectors) with captions; the temperature of the softmax is learned."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Matcher(nn.Module):
    def __init__(self, d_photo=12, d_text=9, d=8):
        super().__init__()
        self.photo = nn.Linear(d_photo, d)
        self.text = nn.Linear(d_text, d)
        self.log_t = nn.Parameter(torch.tensor(0.0))

    @property
    def temperature(self):
        return self.log_t.exp().item()  # expect: place

    def forward(self, photo, text):
        a = F.normalize(self.photo(photo), dim=1)
        b = F.normalize(self.text(text), dim=1)
        return a @ b.t() / self.temperature  # expect: place


def shop(n):
    z = torch.randn(n, 6)
    return z.repeat(1, 2) + 0.1 * torch.randn(n, 12), torch.cat([z[:, :5], z[:, 2:]], 1)


torch.manual_seed(52)
net = Matcher()
opt = torch.optim.Adam([{"params": [net.photo.weight, net.photo.bias, net.text.weight, net.text.bias]},
                        {"params": [net.log_t], "lr": 0.05}], lr=3e-3)
for it in range(15):
    photo, text = shop(16)
    logits = net(photo, text)
    y = torch.arange(16)
    loss = (F.cross_entropy(logits, y) + F.cross_entropy(logits.t(), y)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 5 == 4:
        print(it + 1, round(loss.item(), 4), "temperature", round(float(net.temperature), 4))
