# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = text_features, class_features, classifier
"""Prompt tuning: both towers frozen, only the context vectors learn. Fossil genera from photographs."""
import torch
import torch.nn.functional as F

from clipish.prompts import PromptLearner
from clipish.towers import ImageTower, TextTower
from data import GENERA, batches


def build(dim=16):
    image_tower, text_tower = ImageTower(dim), TextTower(dim, vocab=40)
    for tower in (image_tower, text_tower):
        tower.requires_grad_(False)
        tower.eval()
    prompts = PromptLearner(GENERA, text_tower.token_embedding, n_ctx=4)
    return image_tower, text_tower, prompts


def encode_classes(text_tower, prompts):
    features = text_tower(prompts())
    return F.normalize(features, dim=-1)


def run_epoch(image_tower, text_features, optimizer, scale, epoch):
    seen = right = 0
    for images, labels in batches(epoch):
        with torch.no_grad():
            image_features = F.normalize(image_tower(images), dim=-1)
        logits = scale * image_features @ text_features.t()  # expect: place
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        seen += len(labels)
        right += (logits.argmax(-1) == labels).sum().item()
    return loss.item(), right / seen


def main():
    torch.manual_seed(12)
    image_tower, text_tower, prompts = build()
    optimizer = torch.optim.SGD(prompts.parameters(), lr=0.005, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    for epoch in range(4):
        # the text side does not depend on the images, once an epoch is enough
        text_features = encode_classes(text_tower, prompts)  # expect: place
        loss, acc = run_epoch(image_tower, text_features, optimizer, 5.0, epoch)  # expect: place
        scheduler.step()
        print(f"epoch {epoch}  loss {loss:.3f}  acc {acc:.2f}")


if __name__ == "__main__":
    main()
