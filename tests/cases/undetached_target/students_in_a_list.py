# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = said, other, others
"""Students of bird calls learn from each other: each is held to what all others said."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
students = [nn.Sequential(nn.Linear(8, 14), nn.ReLU(), nn.Linear(14, 5)) for _ in range(3)]
optimizers = [torch.optim.Adam(student.parameters(), lr=0.01) for student in students]

for step in range(8):
    calls, kinds = torch.randn(12, 8), torch.randint(0, 5, (12,))
    said = [student(calls) for student in students]  # expect: place
    for i, optimizer in enumerate(optimizers):
        others = [one for j, one in enumerate(said) if j != i]
        apart = sum(
            F.kl_div(said[i].log_softmax(1), other.softmax(1), reduction="batchmean")  # expect: place
            for other in others
        )
        loss = F.cross_entropy(said[i], kinds) + apart / len(others)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
