# expect: pattern = none
"""Group-relative policy optimisation of a tiny token policy: write digit strings with a wanted digit sum."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(88)
VOCAB, LEN, GROUP = 10, 4, 8


class TinyPolicy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.prompt = nn.Embedding(40, hidden)
        self.tok = nn.Embedding(VOCAB + 1, hidden)
        self.rnn = nn.GRUCell(hidden, hidden)
        self.head = nn.Linear(hidden, VOCAB)

    @torch.no_grad()
    def generate(self, prompt):
        h = self.prompt(prompt)
        t = torch.full_like(prompt, VOCAB)
        out = []
        for _ in range(LEN):
            h = self.rnn(self.tok(t), h)
            t = torch.distributions.Categorical(logits=self.head(h)).sample()
            out.append(t)
        return torch.stack(out, 1)

    def logps(self, prompt, answer):
        h = self.prompt(prompt)
        t = torch.full_like(prompt, VOCAB)
        out = []
        for i in range(LEN):
            h = self.rnn(self.tok(t), h)
            out.append(F.log_softmax(self.head(h), -1).gather(1, answer[:, i:i + 1]))
            t = answer[:, i]
        return torch.cat(out, 1)


policy, reference = TinyPolicy(), TinyPolicy()
reference.load_state_dict(policy.state_dict())
reference.requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
beta = 0.02
log = []

for step in range(12):
    prompt = torch.randint(0, 37, (6,)).repeat_interleave(GROUP)
    answer = policy.generate(prompt)
    reward = -(answer.sum(1) - prompt).abs().float()
    by_group = reward.view(-1, GROUP)
    advantage = ((by_group - by_group.mean(1, keepdim=True)) / (by_group.std(1, keepdim=True) + 1e-4)).flatten()

    logp = policy.logps(prompt, answer)
    ref_logp = reference.logps(prompt, answer)
    gap = ref_logp - logp
    kl = gap.exp() - gap - 1
    per_token = torch.exp(logp - logp.detach()) * advantage.unsqueeze(1) - beta * kl
    loss = -per_token.mean()

    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    log.append({"loss": loss.item(), "reward": reward.mean().item(), "kl": kl.mean().item()})

for row in log[::4]:
    print(row)
