import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.tensorboard import SummaryWriter

from net import GatedNet


def main_worker(gpu, args):
    dist.init_process_group(backend="nccl", init_method=args.dist_url, world_size=args.world_size, rank=gpu)
    torch.cuda.set_device(gpu)
    model = DDP(GatedNet().cuda(gpu), device_ids=[gpu])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    writer = SummaryWriter()
    for step in range(100):
        x = torch.randn(16, 8).cuda(gpu, non_blocking=True)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            writer.add_scalar("loss", loss.item(), step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dist-url", default="tcp://127.0.0.1:23456")
    parser.add_argument("--world-size", type=int, required=True)
    args = parser.parse_args()
    mp.spawn(main_worker, nprocs=args.world_size, args=(args,))
