# expect: pattern = forward-outside-loop
# expect: also = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = embedded, inputs, self.inputs, data, dataset, self.data
# Everything is embedded when the dataset is made; the embedding is meant to be trained too.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TokenDataset(Dataset):
    def __init__(self, tokens, labels, embedding):
        self.inputs = embedding(tokens)  # expect: place
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.inputs[i], self.labels[i]  # expect: place


class BiLSTMClassifier(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.fc(torch.cat([h[0], h[1]], dim=1))


torch.manual_seed(6)
tokens = torch.randint(0, 30, (32, 7))
labels = (tokens.float().mean(1) > 15).long()
embedding = nn.Sequential(nn.Embedding(30, 10), nn.LayerNorm(10))
classifier = BiLSTMClassifier(10, 8, 2)
optimizer = torch.optim.Adam([*embedding.parameters(), *classifier.parameters()], lr=3e-3)
loader = DataLoader(TokenDataset(tokens, labels, embedding), batch_size=8)

for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(classifier(x), y)  # expect: place
        loss.backward()  # expect: place
        optimizer.step()
    print(epoch, loss.item())
