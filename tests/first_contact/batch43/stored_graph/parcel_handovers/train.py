# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = messages, self.messages
"""Will depot A hand a parcel to depot B next? Link prediction on a stream of handovers with a memory per depot."""
import argparse

import torch

from data import handovers
from tgn import TGN


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bs", type=int, default=20)
    parser.add_argument("--n_epoch", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--backprop_every", type=int, default=1, help="Every how many batches to backprop")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    src, dst, ts, feat, n_depots = handovers()
    tgn = TGN(n_depots, edge_dim=feat.size(1))
    criterion = torch.nn.BCELoss()
    optimizer = torch.optim.Adam(tgn.parameters(), lr=args.lr)
    num_batch = (len(src) + args.bs - 1) // args.bs

    for epoch in range(args.n_epoch):
        tgn.memory.reset()
        m_loss = []
        for k in range(0, num_batch, args.backprop_every):
            loss = 0
            optimizer.zero_grad()
            for j in range(args.backprop_every):
                batch = slice((k + j) * args.bs, (k + j + 1) * args.bs)
                if batch.start >= len(src):
                    continue
                negatives = torch.randint(n_depots, (len(src[batch]),))
                pos, neg = tgn(src[batch], dst[batch], negatives, ts[batch], feat[batch])
                loss += criterion(pos, torch.ones_like(pos)) + criterion(neg, torch.zeros_like(neg))
            loss /= args.backprop_every
            loss.backward()  # expect: place
            optimizer.step()
            m_loss.append(loss.item())
            # we don't want to backpropagate to the start of time
            tgn.memory.detach_memory()  # expect: place
        print("epoch: {} mean loss: {:.4f}".format(epoch, sum(m_loss) / len(m_loss)))


if __name__ == "__main__":
    main()
