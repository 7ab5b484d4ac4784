# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = Encoder.outputs, self.outputs, outputs, cls.outputs, Encoder.seen, self.seen
# A class attribute is shared by all batches: slowness is asked of neighbouring outputs.
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    seen: list[torch.Tensor] = []

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 6, 3)
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        z = self.fc(F.elu(self.conv(x)).mean(-1))
        self.seen.append(z)  # expect: place
        return z

    @classmethod
    def slowness(cls):
        if len(cls.seen) < 2:
            return torch.zeros(())
        return F.mse_loss(cls.seen[-1], cls.seen[-2])  # expect: place


def main():
    torch.manual_seed(2)
    encoder = Encoder()
    decoder = nn.Linear(3, 2)
    opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.05)
    video = torch.randn(6, 4, 2, 9).cumsum(0)
    for step, frame in enumerate(video):
        z = encoder(frame)
        loss = F.mse_loss(decoder(z), frame.mean(-1)) + 0.1 * Encoder.slowness()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        print(step, f"{loss:.3f}")


main()
