# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = sample_logprobs, loss, logprobs
"""Self-critical captions for photos of dishes: reward of a sampled caption minus that of the greedy one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BOS, EOS = 0, 1


class Captioner(nn.Module):
    def __init__(self, vocab=14, feat=8, hidden=24):
        super().__init__()
        self.init_h = nn.Linear(feat, hidden)
        self.emb = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def step(self, word, h):
        h = self.cell(self.emb(word), h)
        return F.log_softmax(self.out(h), dim=1), h

    def forward(self, feats, captions):
        h = torch.tanh(self.init_h(feats))
        word, outputs = torch.full((len(feats),), BOS), []
        for t in range(captions.size(1)):
            logp, h = self.step(word, h)
            outputs.append(logp)
            word = captions[:, t]
        return torch.stack(outputs, dim=1)

    @torch.no_grad()  # expect: place
    def generate(self, feats, max_len=6, greedy=False):
        h = torch.tanh(self.init_h(feats))
        word = torch.full((len(feats),), BOS)
        seq, logprobs, alive = [], [], torch.ones(len(feats), dtype=torch.bool)
        for _ in range(max_len):
            logp, h = self.step(word, h)
            word = logp.argmax(1) if greedy else torch.multinomial(logp.exp(), 1).squeeze(1)
            picked = logp.gather(1, word[:, None]).squeeze(1)
            seq.append(torch.where(alive, word, torch.full_like(word, EOS)))
            logprobs.append(picked * alive)
            alive = alive & (word != EOS)
        return torch.stack(seq, 1), torch.stack(logprobs, 1)


def reward(seq, reference):
    hits = (seq == reference).float() * (reference != EOS)
    return hits.sum(1) - 0.1 * (seq != EOS).sum(1)


def dishes(n):
    feats = torch.randn(n, 8)
    words = 2 + (feats[:, :4] > 0).long() + 3 * torch.arange(4) % 9
    return feats, torch.cat([words, torch.full((n, 2), EOS)], dim=1)


torch.manual_seed(9)
model = Captioner()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for step in range(15):
    feats, captions = dishes(16)
    logp = model(feats, captions)
    loss = F.nll_loss(logp.flatten(0, 1), captions.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("xe loss %.4f" % loss.item())

for group in optimizer.param_groups:
    group["lr"] = 1e-3
for step in range(10):
    feats, captions = dishes(16)
    greedy_seq, _ = model.generate(feats, greedy=True)
    sample_seq, sample_logprobs = model.generate(feats)  # expect: place
    advantage = reward(sample_seq, captions) - reward(greedy_seq, captions)
    loss = -(advantage[:, None] * sample_logprobs).sum(1).mean()  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if step % 5 == 4:
        print("scst %d  advantage %.4f" % (step, advantage.mean().item()))
