# expect: pattern = recurrent-state
# expect: also = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = carry, state, context
# Slot-based video model: the carry between clips is a dict, and one key of it is cleaned.
import torch
from torch import nn

torch.manual_seed(64)


class SlotModel(nn.Module):
    def __init__(self, d=6, slots=3):
        super().__init__()
        self.init = nn.Parameter(torch.randn(slots, d))
        self.update = nn.GRUCell(d, d)
        self.pool = nn.Linear(d, d)
        self.decode = nn.Linear(d, d)

    def initial(self, batch):
        return {"slots": self.init.expand(batch, -1, -1), "context": torch.zeros(batch, self.init.size(1))}

    def forward(self, frame, carry):
        slots, context = carry["slots"], carry["context"]
        weight = torch.softmax(torch.einsum("bsd,bd->bs", slots, frame + context), dim=1)
        inputs = weight.unsqueeze(-1) * frame.unsqueeze(1)
        slots = self.update(inputs.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
        context = torch.tanh(self.pool(slots.mean(1)) + context)  # expect: place
        return self.decode(slots.sum(1)), {"slots": slots, "context": context}


model = SlotModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
video = torch.randn(12, 2, 6)
carry = None
for clip in video.split(4):
    if carry is None:
        carry = model.initial(batch=2)
    else:
        carry = {**carry, "slots": carry["slots"].detach()}  # expect: place
    loss = 0.0
    for frame in clip:
        reconstruction, carry = model(frame, carry)  # expect: place
        loss = loss + (reconstruction - frame).square().mean()
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
