import torch
import torch.nn.functional as F
from absl import app, flags, logging

FLAGS = flags.FLAGS
flags.DEFINE_integer("ways", 3, "classes of a task")
flags.DEFINE_float("inner_lr", 0.1, "")
flags.DEFINE_string("dataset_dir", None, "where the tasks lie")
flags.mark_flag_as_required("dataset_dir")


def task():
    return torch.randn(6, 5), torch.arange(6) % FLAGS.ways


def main(argv):
    logging.info("tasks from %s", FLAGS.dataset_dir)
    w = torch.randn(5, FLAGS.ways, requires_grad=True)
    b = torch.zeros(FLAGS.ways, requires_grad=True)
    optimizer = torch.optim.Adam([w, b], lr=1e-2)
    for step in range(50):
        x, y = task()
        loss = F.cross_entropy(torch.tanh(x @ w) + b, y)
        gw, gb = torch.autograd.grad(loss, [w, b])
        fast = w - FLAGS.inner_lr * gw
        meta_loss = F.cross_entropy(torch.tanh(x @ fast) + b, y) + loss
        optimizer.zero_grad()
        meta_loss.backward()
        optimizer.step()


if __name__ == "__main__":
    app.run(main)
