import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--root", default="../data")
parser.add_argument("--nz", type=int, default=16)
parser.add_argument("--batch_size", type=int, default=50)
parser.add_argument("--epochs", type=int, default=500)
opt = parser.parse_args()
