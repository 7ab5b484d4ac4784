# expect: pattern = nonleaf-grad
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = vectors
import torch
from torch import nn

torch.manual_seed(6)


class TextModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 12)
        self.lstm = nn.LSTM(12, 10, batch_first=True)
        self.out = nn.Linear(10, 2)

    def encode(self, vectors):
        _, (h, _) = self.lstm(vectors)
        return self.out(h[-1])


model = TextModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(3):
    tokens = torch.randint(0, 50, (8, 5))
    labels = (tokens[:, 0] > 25).long()
    vectors = model.embedding(tokens)  # expect: place
    loss = nn.functional.cross_entropy(model.encode(vectors), labels)
    optimizer.zero_grad()
    loss.backward()
    noise = 0.5 * vectors.grad / (vectors.grad.norm() + 1e-8)  # expect: place
    adversarial = nn.functional.cross_entropy(model.encode(model.embedding(tokens) + noise), labels)
    adversarial.backward()
    optimizer.step()
    print(step, loss.item(), adversarial.item())
