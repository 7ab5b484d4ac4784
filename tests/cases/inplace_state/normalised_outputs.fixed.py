import random
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, v, e, h):
        super().__init__()
        self.emb, self.rnn = nn.Embedding(v, e), nn.GRU(e, h)

    def forward(self, src):
        return self.rnn(self.emb(src))[1]


class Decoder(nn.Module):
    def __init__(self, v, e, h):
        super().__init__()
        self.v, self.emb, self.rnn, self.fc = v, nn.Embedding(v, e), nn.GRU(e, h), nn.Linear(h, v)

    def forward(self, tok, hid):
        out, hid = self.rnn(self.emb(tok)[None], hid)
        return self.fc(out[0]), hid


class Seq2Seq(nn.Module):
    def __init__(self, enc, dec):
        super().__init__()
        self.enc, self.dec = enc, dec

    def forward(self, src, trg, ratio=0.5):
        T, B = trg.shape
        outputs = torch.zeros(T, B, self.dec.v)
        hid = self.enc(src)
        tok = trg[0]
        for t in range(1, T):
            out, hid = self.dec(tok, hid)
            outputs[t] = out / out.norm(dim=-1, keepdim=True)
            tok = trg[t] if random.random() < ratio else outputs[t].argmax(1)
        return outputs


random.seed(0)
torch.manual_seed(0)
model = Seq2Seq(Encoder(20, 8, 16), Decoder(20, 8, 16))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(2):
    for _ in range(2):
        src, trg = torch.randint(1, 20, (7, 4)), torch.randint(1, 20, (6, 4))
        optimizer.zero_grad()
        out = model(src, trg)
        loss = criterion(out[1:].view(-1, 20), trg[1:].view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
    print(epoch, loss.item())
