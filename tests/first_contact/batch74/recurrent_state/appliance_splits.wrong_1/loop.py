class SplitLoop:
    """Walks every batch in short splits along time and steps after each of them."""

    def __init__(self, module, truncated_bptt_steps):
        self.module = module
        self.steps = truncated_bptt_steps
        self.optimizer = module.configure_optimizers()

    def splits(self, batch):
        return zip(*(part.split(self.steps, dim=1) for part in batch))

    def run_epoch(self, batches):
        total, count = 0.0, 0
        for batch_idx, batch in enumerate(batches):
            hiddens = None
            for split in self.splits(batch):
                result = self.module.training_step(split, batch_idx, None)
                hiddens = result["hiddens"]
                self.optimizer.zero_grad()
                result["loss"].backward()
                self.optimizer.step()
                total, count = total + result["loss"].item(), count + 1
        return total / count
