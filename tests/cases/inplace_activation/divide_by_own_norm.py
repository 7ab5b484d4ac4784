# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = emb, z
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


class FaceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 40)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x):
        z = self.fc2(F.relu(self.fc1(x)))
        z /= z.norm(dim=1, keepdim=True)  # expect: place
        return z


net = FaceNet()
triplet = nn.TripletMarginLoss(margin=2.0)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(4):
    anchor = torch.randn(12, 30)
    positive = anchor + 0.1 * torch.randn(12, 30)
    negative = torch.randn(12, 30)
    loss = triplet(net(anchor), net(positive), net(negative))
    sgd.zero_grad()
    loss.backward()  # expect: place
    sgd.step()
    print(i, loss.item())
