# expect: pattern = inplace-view
# expect: also = inplace-state
# expect: raises = RuntimeError: A view was created in no_grad mode
# expect: carrier = slot
import torch
from torch import nn


class SlotMemory(nn.Module):
    """External memory; each query reads all slots, then overwrites the least used one."""

    def __init__(self, slots=6, dim=10):
        super().__init__()
        self.slots, self.dim = slots, dim
        self.write = nn.Linear(dim, dim)
        self.query = nn.Linear(dim, dim)

    def least_used(self, memory, usage):
        with torch.no_grad():
            return memory[usage.argmin()]  # expect: place

    def forward(self, sequence):
        memory = self.write(torch.zeros(self.slots, self.dim))
        usage = torch.zeros(self.slots)
        for x in sequence:
            slot = self.least_used(memory, usage)  # expect: place
            slot.copy_(self.write(x))  # expect: place
            attention = torch.softmax(memory @ self.query(x), dim=0)
            usage = usage + attention.detach()
        return attention @ memory


torch.manual_seed(23)
net = SlotMemory()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    seq = torch.randn(1, 10)
    loss = (net(seq) - seq.mean(0)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
