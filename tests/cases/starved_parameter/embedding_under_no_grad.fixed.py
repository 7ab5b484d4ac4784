import torch
import torch.nn as nn

torch.manual_seed(2)
VOCAB, DIM = 30, 10


class SentimentRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.norm = nn.LayerNorm(DIM)
        self.gru = nn.GRU(DIM, 16, batch_first=True)
        self.cls = nn.Linear(16, 2)

    def embed(self, tokens):
        vectors = self.norm(self.emb(tokens))
        return vectors

    def forward(self, tokens):
        _, h = self.gru(self.embed(tokens))
        return self.cls(h[-1])


model = SentimentRNN()
trainable = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.RMSprop(trainable, lr=1e-3)
for it in range(4):
    tokens = torch.randint(0, VOCAB, (12, 8))
    labels = (tokens.float().mean(1) > VOCAB / 2).long()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
