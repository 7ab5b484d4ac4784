from easydict import EasyDict as edict

cfg = edict()
cfg.size = 32
cfg.root = "data/train"
cfg.batch_size = 4
cfg.lr = 0.01
cfg.epochs = 8
