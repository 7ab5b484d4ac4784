# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = self.mem, mem, kept, self.board.mem
"""Does a network with a board of plugs remember more than one without?"""
import torch
import torch.nn.functional as F

from board import Operator
from calls import LINES, NAMES, shifts


def answer_loss(logits, answers):
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=-1)


@torch.no_grad()
def right(net, tokens, answers):
    due = answers >= 0
    return (net(tokens).argmax(-1)[due] == answers[due]).float().mean().item()


def main(lengths=(8, 12, 10), per_stage=8, batch=24):
    torch.manual_seed(30)
    net = Operator(2 + NAMES + LINES, LINES)
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3, momentum=0.5)
    check = shifts(48, max(lengths), seed=999)
    for stage, length in enumerate(lengths):
        tokens, answers = shifts(per_stage * batch, length, seed=stage)
        for x, y in zip(tokens.split(batch), answers.split(batch)):
            loss = answer_loss(net(x), y)
            opt.zero_grad()
            loss.backward()  # expect: place
            torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)
            opt.step()
        print(f"shifts of {length}: last loss {loss.item():.3f}, "
              f"right on the longest {right(net, *check):.2f}")


if __name__ == "__main__":
    main()
