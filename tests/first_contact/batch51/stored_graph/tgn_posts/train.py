# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = inbox, raw
"""Temporal graph network on a stream of (user, post) interactions.

    python train.py
"""
import torch
import torch.nn.functional as F

from events import interaction_stream, make_world
from model import LinkScorer
from node_memory import NodeMemory

CFG = dict(n_users=24, n_posts=16, mem_dim=12, edge_dim=4, batch=32, epochs=5, lr=1e-2, seed=11)


def raw_messages(state, src, dst, feat):
    """Both directions of every event, in the order src..., dst..."""
    forth = torch.cat([state[src], state[dst], feat], dim=1)
    back = torch.cat([state[dst], state[src], feat], dim=1)
    return torch.cat([src, dst]), torch.cat([forth, back])


def run_epoch(cfg, world, memory, scorer, optimizer, gen):
    memory.reset()
    seen, total = 0, 0.0
    for src, dst, feat, when in interaction_stream(world, cfg["batch"], gen):
        optimizer.zero_grad()
        state = memory.flush()
        fake = torch.randint(cfg["n_users"], cfg["n_users"] + cfg["n_posts"], dst.shape, generator=gen)
        pos = scorer(state, world.features, src, dst)
        neg = scorer(state, world.features, src, fake)
        loss = (F.binary_cross_entropy_with_logits(pos, torch.ones_like(pos))
                + F.binary_cross_entropy_with_logits(neg, torch.zeros_like(neg)))
        loss.backward()  # expect: place
        optimizer.step()

        nodes, raw = raw_messages(state, src, dst, feat)  # expect: place
        memory.push(nodes, raw, torch.cat([when, when]))  # expect: place
        memory.detach_memory()
        total += loss.item() * len(src)
        seen += len(src)
    return total / seen


def main(cfg=CFG):
    torch.manual_seed(cfg["seed"])
    gen = torch.Generator().manual_seed(cfg["seed"])
    world = make_world(cfg["n_users"], cfg["n_posts"], cfg["edge_dim"], gen)
    memory = NodeMemory(cfg["n_users"] + cfg["n_posts"], cfg["mem_dim"], cfg["edge_dim"])
    scorer = LinkScorer(cfg["mem_dim"], world.features.shape[1])
    optimizer = torch.optim.Adam([*memory.parameters(), *scorer.parameters()], lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        print(f"epoch {epoch}  loss {run_epoch(cfg, world, memory, scorer, optimizer, gen):.4f}")


if __name__ == "__main__":
    main()
