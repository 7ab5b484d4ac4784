# expect: pattern = none
# expect: raises = nothing
"""Detection style loss: argmax, topk and thresholds choose, the loss stays differentiable."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
head = nn.Linear(10, 3)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for it in range(5):
    anchors = torch.randn(60, 10)
    labels = torch.randint(0, 3, (60,))
    logits = head(anchors)
    per_anchor = F.cross_entropy(logits, labels, reduction="none")
    with torch.no_grad():
        positives = labels > 0
        hardest = per_anchor.masked_fill(positives, 0).topk(15).indices
        keep = positives.clone()
        keep[hardest] = True
    wrong = (logits.argmax(1) != labels).float().mean().item()
    loss = per_anchor[keep].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{it} loss {loss.item():.3f} error {wrong:.2f}")
