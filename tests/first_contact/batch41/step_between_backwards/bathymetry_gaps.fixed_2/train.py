import torch
from torch.utils.data import DataLoader

from dataset import SeaFloor
from models import GapModel

CONFIG = {"SEED": 10, "LR": 1e-3, "D2G_LR": 0.1, "BATCH_SIZE": 8, "MAX_ITERS": 10,
          "L1_W": 1.0, "FM_W": 10.0, "ADV_W": 0.1}


class GapFiller:
    def __init__(self, config):
        self.config = config
        self.model = GapModel(config)
        self.train_dataset = SeaFloor(40)

    def train(self):
        loader = DataLoader(self.train_dataset, batch_size=self.config["BATCH_SIZE"], drop_last=True, shuffle=True)
        while True:
            for depth, masks in loader:
                self.model.train()
                outputs, gen_loss, dis_loss, logs = self.model.process(depth, masks)
                merged = outputs * masks + depth * (1 - masks)
                mae = ((depth - merged).abs().sum() / masks.sum()).item()
                self.model.backward(gen_loss, dis_loss)
                logs.append(("mae", mae))
                print(self.model.iteration, " ".join("%s %.4f" % item for item in logs))
                if self.model.iteration >= self.config["MAX_ITERS"]:
                    return


if __name__ == "__main__":
    torch.manual_seed(CONFIG["SEED"])
    GapFiller(CONFIG).train()
