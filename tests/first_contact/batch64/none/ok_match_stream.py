# expect: pattern = none
# expect: raises = nothing
"""Next-event prediction over a whole match, read window by window.

The match state is carried from window to window. Player embeddings have an optimizer of their own
and are updated twice a half, the network after every window.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

N_PLAYERS, N_EVENTS = 22, 6
WINDOW = 10


class MatchModel(nn.Module):
    def __init__(self, emb=8, hidden=16):
        super().__init__()
        self.players = nn.Embedding(N_PLAYERS, emb)
        self.events = nn.Embedding(N_EVENTS, emb)
        self.rnn = nn.LSTM(2 * emb + 2, hidden, batch_first=True)
        self.next_event = nn.Linear(hidden, N_EVENTS)
        self.next_zone = nn.Linear(hidden, 2)

    def forward(self, player, event, xy, carry=None):
        x = torch.cat([self.players(player), self.events(event), xy], dim=-1)
        h, carry = self.rnn(x, carry)
        return self.next_event(h), self.next_zone(h), carry


def play_matches(n, length):
    player = torch.randint(N_PLAYERS, (n, length))
    event = (player + torch.arange(length)).remainder(N_EVENTS)
    xy = torch.cumsum(0.1 * torch.randn(n, length, 2), dim=1).tanh()
    return player, event, xy


def windows(player, event, xy):
    for s in range(0, player.shape[1] - WINDOW, WINDOW):
        now = slice(s, s + WINDOW)
        nxt = slice(s + 1, s + WINDOW + 1)
        yield (player[:, now], event[:, now], xy[:, now]), (event[:, nxt], xy[:, nxt])


def run():
    torch.manual_seed(90)
    model = MatchModel()
    emb_params = [model.players.weight]
    net_params = [p for name, p in model.named_parameters() if not name.startswith("players")]
    emb_opt = torch.optim.SGD(emb_params, lr=0.5)
    net_opt = torch.optim.Adam(net_params, lr=5e-3)

    for match_day in range(2):
        data = play_matches(4, 61)
        carry = None
        running = torch.zeros(())
        emb_opt.zero_grad()
        for k, (inputs, (event, xy)) in enumerate(windows(*data)):
            logits, zone, carry = model(*inputs, carry)
            event_loss = F.cross_entropy(logits.flatten(0, 1), event.flatten())
            # confident windows count more for the position, the weight itself is not trained
            weight = (-event_loss).exp().detach()
            loss = event_loss + weight * F.mse_loss(zone, xy)

            net_opt.zero_grad()
            loss.backward()
            net_opt.step()
            carry = tuple(c.detach() for c in carry)
            running += loss.detach()

            if k % 3 == 2:
                model.players.weight.grad /= 3
                emb_opt.step()
                emb_opt.zero_grad()
        print(f"match day {match_day}: {running.item() / (k + 1):.4f}")


if __name__ == "__main__":
    run()
