# A diagonal state space model on a stream of audio frames, with one cached state for each layer.
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class InferenceCache:
    ssm_states: dict[int, Tensor] = field(default_factory=dict)
    offset: int = 0


class DiagonalSSM(nn.Module):
    def __init__(self, width: int, index: int) -> None:
        super().__init__()
        self.index = index
        self.log_decay = nn.Parameter(torch.linspace(-2.0, 0.5, width))
        self.inp, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, u: Tensor, cache: InferenceCache) -> Tensor:
        state = cache.ssm_states.get(self.index)
        if state is None:
            state = u.new_zeros(u.size(0), u.size(2))
        decay = torch.exp(-torch.exp(self.log_decay))
        ys = []
        for frame in self.inp(u).unbind(dim=1):
            state = decay * state + (1 - decay) * frame
            ys.append(state)
        cache.ssm_states[self.index] = state.detach()
        return u + torch.tanh(self.out(torch.stack(ys, dim=1)))


class Backbone(nn.Module):
    def __init__(self, width: int = 12, depth: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DiagonalSSM(width, i) for i in range(depth))
        self.head = nn.Linear(width, width)

    def forward(self, x: Tensor, cache: InferenceCache) -> Tensor:
        for layer in self.layers:
            x = layer(x, cache)
        cache.offset += x.size(1)
        return self.head(x)


def fit(model: Backbone, stream: Tensor, frames: int = 8) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    cache = InferenceCache()
    for piece in stream.split(frames, dim=1):
        prediction = model(piece[:, :-1], cache)
        loss = nn.functional.l1_loss(prediction, piece[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"{cache.offset:4d} frames  loss {loss.item():.4f}")


torch.manual_seed(3)
fit(Backbone(), torch.randn(2, 40, 12).cumsum(1) * 0.1)
