# expect: pattern = none
# expect: raises = nothing
"""Voice activity detection trained on long recordings, chunk by chunk, as it will run on the device.

The state between chunks (left context of the causal convolution, GRU state, running level) is cut
from the graph at each chunk boundary.
"""
from dataclasses import dataclass, fields, replace
from typing import Optional

import torch
from torch import nn


@dataclass
class StreamState:
    context: torch.Tensor
    hidden: Optional[torch.Tensor]
    level: torch.Tensor

    def detached(self):
        cut = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{k: v.detach() for k, v in cut.items() if v is not None})


class StreamingVAD(nn.Module):
    def __init__(self, mels=12, channels=10, kernel=5):
        super().__init__()
        self.kernel = kernel
        self.embed = nn.Linear(mels, channels)
        self.conv = nn.Conv1d(channels, channels, kernel)
        self.gru = nn.GRU(channels, 12, batch_first=True)
        self.out = nn.Linear(12, 1)
        self.momentum = nn.Parameter(torch.tensor(2.0))

    def initial(self, batch):
        context = torch.zeros(batch, self.embed.out_features, self.kernel - 1)
        return StreamState(context, None, torch.zeros(batch, 1))

    def forward(self, mel, state):
        keep = torch.sigmoid(self.momentum)
        level = keep * state.level + (1 - keep) * mel.mean((1, 2))[:, None]
        x = self.embed(mel - level[:, None]).transpose(1, 2)
        x = torch.cat([state.context, x], dim=2)
        context = x[:, :, 1 - self.kernel :]
        x = torch.relu(self.conv(x)).transpose(1, 2)
        x, hidden = self.gru(x, state.hidden)
        return self.out(x).squeeze(-1), StreamState(context, hidden, level)


def recordings(count, frames, mels=12):
    speech = (torch.rand(count, frames // 20).repeat_interleave(20, dim=1) > 0.5).float()
    formants = torch.linspace(-1, 1, mels).cos()
    noise = torch.randn(count, frames, mels) + torch.randn(count, 1, 1)
    return noise + 1.5 * speech[..., None] * formants, speech


def train(epochs=3, chunk=40):
    torch.manual_seed(12)
    mel, speech = recordings(6, 320)
    model = StreamingVAD()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        state = model.initial(len(mel))
        total, correct = 0.0, 0.0
        for x, y in zip(mel.split(chunk, dim=1), speech.split(chunk, dim=1)):
            logits, state = model(x, state.detached())
            loss = criterion(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            correct += ((logits > 0) == y.bool()).float().mean().item()
        chunks = mel.shape[1] / chunk
        print(f"epoch {epoch}: bce {total / len(mel) / chunks:.4f}, accuracy {correct / chunks:.3f}")


if __name__ == "__main__":
    train()
