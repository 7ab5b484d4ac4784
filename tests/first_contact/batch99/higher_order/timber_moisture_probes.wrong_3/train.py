"""Learn where to start from, so that eight oven-dried samples calibrate a moisture probe."""
import torch

from meta import MetaProbe
from timber import saw

INNER, BOARDS, ROUNDS = 2, 4, 15


def meta_step(meta, optimizer, boards):
    optimizer.zero_grad()
    seen = 0.0
    for board in boards:
        fast = meta.calibrate(board.support, INNER)
        for session in board.sessions[-1:]:
            loss = meta.error(fast, session) / (len(boards) * len(board.sessions))
            loss.backward()
            seen += loss.item()
    torch.nn.utils.clip_grad_norm_(meta.parameters(), 10.0)
    optimizer.step()
    return seen


def yard_test(meta, boards):
    before = after = 0.0
    start = dict(meta.net.named_parameters())
    for board in boards:
        fast = meta.calibrate(board.support, INNER, differentiable=False)
        with torch.no_grad():
            before += meta.error(start, board.sessions[0]).item() / len(boards)
            after += meta.error(fast, board.sessions[0]).item() / len(boards)
    return before, after


def main():
    torch.manual_seed(57)
    gen = torch.Generator().manual_seed(8)
    held_out = [saw(gen) for _ in range(6)]
    meta = MetaProbe()
    optimizer = torch.optim.Adam([{"params": meta.net.parameters()},
                                  {"params": meta.rates.parameters(), "lr": 1e-3}], lr=5e-3)
    for round_ in range(ROUNDS):
        seen = meta_step(meta, optimizer, [saw(gen) for _ in range(BOARDS)])
        if round_ % 5 == 4:
            before, after = yard_test(meta, held_out)
            print(f"round {round_ + 1}: {seen:.4f}; new species {before:.4f} -> {after:.4f}")


if __name__ == "__main__":
    main()
