# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hidden
import torch
import torch.nn as nn

torch.manual_seed(1)
text = "the quick brown fox jumps over the lazy dog. " * 8
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(ch) for ch in text])
seq_len, batch_size, n_hidden = 15, 4, 32


class CharModel(nn.Module):
    def __init__(self, n_vocab):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, 16)
        self.lstm = nn.LSTM(16, n_hidden, batch_first=True)
        self.fc = nn.Linear(n_hidden, n_vocab)

    def forward(self, x, hidden):
        out, hidden = self.lstm(self.embed(x), hidden)
        return self.fc(out), hidden


model = CharModel(len(vocab))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

n = (len(ids) - 1) // batch_size
x_all = ids[: n * batch_size].view(batch_size, n)
y_all = ids[1 : n * batch_size + 1].view(batch_size, n)

for epoch in range(2):
    hidden = (torch.zeros(1, batch_size, n_hidden), torch.zeros(1, batch_size, n_hidden))
    for i in range(0, n - seq_len, seq_len):
        x, y = x_all[:, i : i + seq_len], y_all[:, i : i + seq_len]
        optimizer.zero_grad()
        logits, hidden = model(x, hidden)  # expect: place
        loss = criterion(logits.reshape(-1, len(vocab)), y.reshape(-1))
        loss.backward()  # expect: place
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
