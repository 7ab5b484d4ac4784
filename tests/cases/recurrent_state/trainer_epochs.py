# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.state, state, self.state.hidden
from dataclasses import dataclass, field
from typing import Callable, List, Optional, Tuple

import torch
from torch import Tensor, nn


@dataclass
class LoopState:
    step: int = 0
    hidden: Optional[Tuple[Tensor, Tensor]] = None
    history: List[float] = field(default_factory=list)


class SequenceTrainer:
    def __init__(self, encoder, head, lr, on_step: Optional[Callable] = None):
        self.encoder, self.head, self.on_step = encoder, head, on_step
        self.opt = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=lr)
        self.state = LoopState()

    def training_step(self, batch: Tensor) -> Tensor:
        out, self.state.hidden = self.encoder(batch[:, :-1], self.state.hidden)  # expect: place
        return nn.functional.l1_loss(self.head(out), batch[:, 1:])

    def fit(self, loader, epochs: int) -> LoopState:
        for _ in range(epochs):
            for batch in loader:
                loss = self.training_step(batch)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()  # expect: place
                self.opt.step()
                self.state.step += 1
                self.state.history.append(loss.item())
                if self.on_step:
                    self.on_step(self.state)
        return self.state


def report(state: LoopState) -> None:
    if state.step % 2 == 0:
        print(f"step {state.step}: {state.history[-1]:.4f}")


torch.manual_seed(21)
waves = torch.sin(torch.linspace(0, 12, 33).view(1, -1, 1) + torch.rand(8, 1, 1) * 6)
loader = torch.utils.data.DataLoader(waves, batch_size=4)
trainer = SequenceTrainer(nn.LSTM(1, 10, batch_first=True), nn.Linear(10, 1), 1e-3, report)
trainer.fit(loader, epochs=2)
