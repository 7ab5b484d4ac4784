"""Substitutes for packages, files and older APIs, each in a script of its own in the jail."""

from __future__ import annotations

from textwrap import dedent

import pytest

from sandbox.protocol import Job, RunResult
from sandbox.records import Trace
from tests.recorded.box import RecordedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run(sandbox: RecordedSandbox, script: str) -> RunResult:
    return await sandbox.run(Job(files={"train.py": dedent(script)}, gradients=True))


def named(trace: Trace | None) -> set[str]:
    """Everything that was put in the place of something else."""
    assert trace is not None
    return {one.name for one in trace.stubs} | {one.name for one in trace.assumed}


STUBS: dict[str, tuple[set[str], str]] = {
    "gym in its old signatures": (
        {"gym"},
        """
        import gym
        env = gym.make("CartPole-v1")
        env.seed(1)
        steps, done, state = 0, False, env.reset()
        assert state.shape == env.observation_space.shape == (4,)
        while not done:
            state, reward, done, info = env.step(env.action_space.sample())
            steps += 1
        assert 5 < steps < 50 and env.action_space.n == 2
        """,
    ),
    "tables of datasets, with the columns that are asked for": (
        {"datasets", "reviews"},
        """
        from datasets import load_dataset
        both = load_dataset("reviews").map(lambda row: {"length": len(row["text"].split())})
        parts = both["train"].train_test_split(0.25, seed=0)
        rows = parts["train"].shuffle(seed=1)[:6]
        assert len(rows["text"]) == len(rows["label"]) == 6 and isinstance(rows["text"][0], str)
        named = both["train"].rename_column("label", "labels").with_format("torch", ["labels"])
        assert set(named[0]) == {"labels"} and named[0]["labels"].dtype.is_signed
        assert both["train"].filter(lambda row: row["length"] > 0).num_rows == 64
        """,
    ),
    "recordings, and what is computed of them": (
        {"torchaudio", "soundfile", "librosa", "talk.wav"},
        """
        import librosa, soundfile, torchaudio
        wave, rate = torchaudio.load("talk.wav")
        assert wave.shape == (1, rate)
        frames = torchaudio.transforms.MelSpectrogram(n_fft=400, hop_length=160, n_mels=40)(wave)
        assert frames.shape[:2] == (1, 40)
        samples, rate = soundfile.read("talk.wav", dtype="float32")
        assert samples.ndim == 1
        assert librosa.feature.mfcc(y=samples, sr=rate, n_mfcc=13).shape[0] == 13
        """,
    ),
    "a change of data by their names": (
        {"albumentations"},
        """
        import albumentations as A
        import numpy as np
        both = A.Compose([A.HorizontalFlip(p=0.5)])(image=np.ones((4, 4)), mask=np.zeros((4, 4)))
        assert both["image"].sum() == 16 and both["mask"].sum() == 0
        """,
    ),
    "columns as whole numbers": (
        {"transfers.csv"},
        """
        import pandas as pd
        table = pd.read_csv("transfers.csv")
        assert table["source"].to_numpy(dtype="int64").max() > 1
        assert table[["seen", "spent"]].to_numpy(dtype="float32").dtype == "float32"
        assert table[["text_length", "path_count"]].to_numpy(dtype="float32").std() > 0
        assert set(table["comment_class"]) == {0, 1}
        assert isinstance(table["review_text"].values[0], str)
        assert table["image_path"].values[0] != table["file_name"].values[1]
        """,
    ),
    "what only Apex has": (
        {"apex"},
        """
        import torch
        from apex import amp
        try:
            from apex.normalization import FusedLayerNorm
        except ImportError:
            FusedLayerNorm = torch.nn.LayerNorm
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
        with amp.scale_loss(net(torch.ones(1, 2)).sum(), optimizer) as scaled:
            scaled.backward()
        assert net.weight.grad is not None
        """,
    ),
    "gymnasium with wrappers and vectors": (
        set(),
        """
        import gymnasium as gym
        from gymnasium.wrappers import RecordEpisodeStatistics
        class Twice(gym.Wrapper):
            def step(self, action):
                state, reward, ended, cut, info = self.env.step(action)
                return state, 2 * reward, ended, cut, info
        env = Twice(RecordEpisodeStatistics(gym.make("Pendulum-v1")))
        state, info = env.reset(seed=1)
        assert state.shape == (3,) and env.action_space.shape == (1,)
        assert len(env.step(env.action_space.sample())) == 5
        envs = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1")] * 3)
        states, _ = envs.reset()
        assert states.shape == (3, 6) and envs.single_action_space.n == 3
        assert len(envs.step([0, 1, 2])) == 5
        """,
    ),
    "pictures and torchvision": (
        {"a.jpg", "torchvision"},
        """
        import numpy as np, torch
        from PIL import Image
        from torchvision import datasets, models, transforms
        from torchvision.utils import make_grid
        picture = Image.open("a.jpg").convert("RGB").resize((32, 48))
        assert picture.size == (32, 48) and np.array(picture).shape == (48, 32, 3)
        change = transforms.Compose([transforms.RandomCrop(24), transforms.ToTensor()])
        assert change(picture).shape == (3, 24, 24)
        digits = datasets.MNIST("d", train=True, transform=transforms.ToTensor())
        assert len(digits) % 100 == 60000 % 100 and len(digits) % 64 == 60000 % 64
        assert datasets.ImageFolder("x").imgs[0][1] in (0, 1)
        net = models.__dict__["vgg16"](pretrained=True)
        net.classifier[6] = torch.nn.Linear(4096, 3)
        assert net(torch.randn(2, 3, 64, 64)).shape == (2, 3)
        starved = models.resnet18()
        starved(torch.randn(2, 3, 64, 64)).sum().backward()
        assert all(p.grad is not None for p in starved.parameters())
        grey = models.resnet18()
        grey.conv1 = torch.nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)
        assert grey(torch.randn(2, 1, 28, 28)).shape == (2, 1000)
        assert make_grid(torch.ones(8, 3, 4, 4)).shape == (3, 8, 50)
        """,
    ),
    "tables and splits": (
        {"data/train.csv"},
        """
        import numpy as np, pandas as pd
        from sklearn.metrics import accuracy_score
        from sklearn.model_selection import KFold, train_test_split
        from sklearn.preprocessing import MinMaxScaler, StandardScaler
        made = pd.read_csv("data/train.csv")
        assert made[["age", "price"]].values.shape == (len(made), 2)
        assert set(np.unique(made["label"].values)) == {0, 1}
        open("own.csv", "w").write("a,b,label\\n1,2,0\\n3,4,1\\n")
        own = pd.read_csv("own.csv")
        assert own.iloc[:, :-1].values.tolist() == [[1, 2], [3, 4]]
        assert own[own["label"] == 1]["a"].tolist() == [3]
        rows, kept, targets, _ = train_test_split(np.eye(10), np.arange(10), test_size=0.2)
        assert rows.shape == (8, 10) and kept.shape == (2, 10) and len(targets) == 8
        scaled = StandardScaler().fit_transform(np.arange(6.0).reshape(3, 2))
        assert abs(scaled.mean()) < 1e-9 and accuracy_score([0, 1], [0, 0]) == 0.5
        assert [len(test) for _, test in KFold(5).split(rows)] == [2, 2, 2, 1, 1]
        """,
    ),
    "einops": (
        set(),
        """
        import torch
        from einops import rearrange, reduce, repeat
        x = torch.arange(96.0).reshape(2, 3, 4, 4)
        assert torch.equal(rearrange(x, "b c h w -> b h w c"), x.permute(0, 2, 3, 1))
        parts = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)
        assert parts.shape == (2, 4, 12)
        assert torch.equal(reduce(x, "b c h w -> b c", "mean"), x.mean((2, 3)))
        assert repeat(torch.ones(1, 5), "() d -> b d", b=3).shape == (3, 5)
        """,
    ),
    "data sets of images, by the numbers of the real ones": (
        {"torchvision"},
        """
        from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, random_split
        from torchvision import datasets, transforms
        images = datasets.MNIST(".", train=True, download=True, transform=transforms.ToTensor())
        train, validation = random_split(images, [55000, 5000])
        assert len(train) + len(validation) == len(images) and len(train) > 5 * len(validation) > 0
        again, _ = random_split(train, [50000, 5000])
        assert train[0][0].shape == again[0][0].shape == Subset(images, range(5000))[4999][0].shape
        sampler = SubsetRandomSampler(range(50000, 60000))
        assert next(iter(DataLoader(images, batch_size=10, sampler=sampler)))[0].shape[0] == 10
        assert sum(1 for _ in images) == len(images)
        for lengths in ([0.5, 0.5], [len(images) - 100, 100]):
            assert sum(map(len, random_split(images, lengths))) == len(images)
        """,
    ),
    "timm": (
        {"timm"},
        """
        import timm
        import torch
        from timm.models.layers import trunc_normal_
        images = torch.randn(2, 3, 32, 32)
        net = timm.create_model("resnet18", pretrained=True, num_classes=5)
        assert net(images).shape == (2, 5) and net.num_classes == 5
        assert net.forward_features(images).shape[:2] == (2, net.num_features)
        net.reset_classifier(0)
        assert net(images).shape == (2, net.num_features)
        trunc_normal_(net.layer1[0].weight, std=0.02)
        maps = timm.create_model("any", features_only=True, in_chans=1)
        channels = [one.shape[1] for one in maps(images[:, :1])]
        assert channels == maps.feature_info.channels()
        bare = timm.create_model("any", num_classes=0, global_pool="")
        assert bare(images).dim() == 4
        vit = timm.create_model("vit_small_patch16_224", num_classes=0)
        assert vit(images).shape == (2, vit.num_features) == (2, vit.embed_dim)
        assert vit.forward_features(images).shape[2] == vit.blocks[0].attn.qkv.in_features
        vit.blocks[1].mlp.fc2 = torch.nn.Linear(vit.blocks[1].mlp.fc2.in_features, vit.embed_dim)
        vit.reset_classifier(7)
        assert vit(images).shape == (2, 7) and vit.get_classifier() is vit.head
        """,
    ),
    "transformers": (
        {"transformers.AdamW", "bert"},
        """
        import torch
        from transformers import AdamW, AutoModel, AutoTokenizer, BertForSequenceClassification
        tokens = AutoTokenizer.from_pretrained("bert")(["a b", "c d"], return_tensors="pt")
        assert AutoModel.from_pretrained("bert")(**tokens).last_hidden_state.shape[2] == 768
        net = BertForSequenceClassification.from_pretrained("bert", num_labels=3)
        optimizer = AdamW(net.parameters(), lr=1e-5)
        out = net(**tokens, labels=torch.tensor([0, 2]))
        out.loss.backward()
        optimizer.step()
        assert out.logits.shape == (2, 3)
        """,
    ),
    "lightning": (
        set(),
        """
        import pytorch_lightning as pl, torch
        class Net(pl.LightningModule):
            def __init__(self, rate=0.1):
                super().__init__()
                self.save_hyperparameters()
                self.layer, self.seen = torch.nn.Linear(2, 1), 0
            def training_step(self, batch, number):
                self.seen += 1
                return self.layer(batch).mean()
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), self.hparams.rate)
        net = Net()
        before = net.layer.weight.clone()
        pl.Trainer(max_epochs=9).fit(net, torch.utils.data.DataLoader(torch.ones(8, 2), 4))
        assert net.seen == 18 and not torch.equal(before, net.layer.weight)
        """,
    ),
    "command lines": (
        {"tyro", "absl", "--data", "--path", "easydict"},
        """
        from dataclasses import dataclass
        import tyro
        from absl import app, flags
        from accelerate import Accelerator
        from easydict import EasyDict
        @dataclass
        class Args:
            data: str
            steps: int = 3
        assert tyro.cli(Args) == Args("data", 3)
        flags.DEFINE_string("path", None, "")
        flags.mark_flag_as_required("path")
        assert EasyDict({"a": {"b": 1}}).a.b == 1
        assert Accelerator().prepare(1, 2) == (1, 2)
        def main(argv):
            assert flags.FLAGS.path == "data"
        app.run(main)
        """,
    ),
    "several processes": (
        {"torch.distributed", "torch.multiprocessing", "cuda"},
        """
        import torch, torch.distributed as dist, torch.multiprocessing as mp
        from torch.nn.parallel import DistributedDataParallel as DDP
        def work(rank, size):
            dist.init_process_group("nccl", init_method="tcp://h:1", rank=rank, world_size=size)
            net = DDP(torch.nn.Linear(2, 2).cuda(rank), device_ids=[rank])
            net(torch.ones(1, 2)).sum().backward()
            assert dist.get_world_size() == 1 and net.module.weight.grad is not None
        mp.spawn(work, nprocs=4, args=(4,))
        """,
    ),
    "packages that nobody knows": (
        {"mylogger", "barbar", "lion_pytorch"},
        """
        import barbar, lion_pytorch, mylogger, torch
        try:
            import apex
        except ImportError:
            apex = None
        assert apex is None
        net = torch.nn.Linear(2, 2)
        optimizer = lion_pytorch.Lion(net.parameters(), lr=0.1)
        log, seen = mylogger.Logger("x"), 0
        for x in barbar.Bar(torch.utils.data.DataLoader(torch.ones(8, 2), 4)):
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
            log.log({"loss": 1})
            seen += 1
        assert seen == 2 and f"{log.best:.3f}" == "0.000"
        """,
    ),
    "files": (
        {"x.npy", "words.txt", "conf.yaml", "best.pt", "train.bin", "/data", "subprocess"},
        """
        import os, numpy as np, torch, yaml
        assert np.load("x.npy").ndim == 2
        assert len(open("words.txt").read().split()) > 100
        settings = yaml.safe_load(open("conf.yaml"))
        assert 0 < settings["lr"] < 1 and settings["batch_size"] == 4
        state = torch.load("best.pt")
        torch.nn.Linear(2, 2).load_state_dict(state["model"])
        assert state["epoch"] == 0
        assert np.memmap("train.bin", dtype=np.uint16, mode="r").dtype == np.uint16
        os.makedirs("/data/runs")
        torch.save([1], "/data/runs/a.pt")
        assert torch.load("/data/runs/a.pt") == [1] and os.path.isdir("/data/runs")
        assert os.popen("stty size").read().split() == ["24", "80"]
        there = os.path.exists("sent.txt")
        assert not there
        """,
    ),
    "older torch and Python": (
        {
            *("async=", "volatile=", "retain_variables=", "loader.next()", ".data[0]"),
            *("numpy.float", ".iteritems", "collections.Mapping", "grad_outputs", "Function()"),
            *("ReduceLROnPlateau(verbose=)", "1 - mask", "torch.symeig", "cuda"),
        },
        """
        import collections, numpy as np, torch
        from torch.autograd import Function, Variable
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)
        x = iter(torch.utils.data.DataLoader(torch.ones(8, 2), 4)).next()
        x = Variable(x, volatile=True).cuda(async=True)
        for _ in xrange(2):
            loss = net(x).sum()
            loss.backward(retain_variables=True)
        assert loss.data[0] == np.float(loss.item())
        assert [k for k, v in {1: 2}.iteritems()] == [1]
        assert isinstance({}, collections.Mapping)
        assert (1 - (x > 0)).sum() == 0
        assert torch.symeig(torch.eye(2))[0].tolist() == [1, 1]
        x = torch.ones(3, requires_grad=True)
        assert torch.autograd.grad(x * 2, x, grad_outputs=torch.ones(3, 1))[0].tolist() == [2] * 3
        class Square(Function):
            def forward(self, x):
                self.save_for_backward(x)
                return x * x
            def backward(self, gradient):
                x, = self.saved_tensors
                return 2 * x * gradient
        Square()(x).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
        """,
    ),
    "pauses": (
        {"time.sleep"},
        """
        import time
        began = time.time()
        time.sleep(300)
        assert time.time() - began >= 300
        """,
    ),
}


@pytest.mark.parametrize("what", STUBS)
async def test_a_script_gets_through_and_what_it_got_is_reported(
    sandbox: RecordedSandbox, what: str
) -> None:
    names, script = STUBS[what]
    result = await run(sandbox, dedent(script))
    assert result.status == "finished", result.stderr_tail
    assert named(result.trace) == names


ON_A_GPU = """
    import torch
    moved = torch.zeros(3, requires_grad=True).cuda()
    assert not moved.is_leaf
    assert not torch.nn.Parameter(torch.zeros(2)).to("cuda:0").is_leaf
    made = torch.zeros(3, requires_grad=True, device="cuda")
    assert made.is_leaf and made.cuda() is made
    data = torch.rand(2, 3).cuda().requires_grad_()
    assert data.is_leaf and data.to("cuda") is data
    for net in (torch.nn.Linear(3, 1).cuda(), torch.nn.Linear(3, 1).to("cuda")):
        assert all(p.is_leaf for p in net.parameters())
    with torch.no_grad():
        assert torch.zeros(3, requires_grad=True).cuda().is_leaf
    """


async def test_a_leaf_that_is_moved_is_copied_as_to_a_gpu(sandbox: RecordedSandbox) -> None:
    result = await run(sandbox, ON_A_GPU)
    assert result.status == "finished", result.stderr_tail


LOGGERS = """
    from lightning.pytorch import Trainer
    from lightning.pytorch.loggers import CometLogger, CSVLogger, MLFlowLogger

    class Mine(MLFlowLogger):
        def log_metrics(self, metrics, step=None):
            super().log_metrics(metrics, step)

    for kind in (CSVLogger, CometLogger, MLFlowLogger, Mine):
        logger = kind("logs") if kind is CSVLogger else kind()
        logger.log_metrics({"loss": 1.0})
        logger.log_hyperparams({"lr": 0.1})
        trainer = Trainer(logger=logger, gpus=1)
        assert isinstance(trainer.logger, kind) and issubclass(type(trainer.logger), kind)
    """


async def test_loggers_stay_what_they_are_without_their_packages(sandbox: RecordedSandbox) -> None:
    result = await run(sandbox, LOGGERS)
    assert result.status == "finished", result.stderr_tail
    assert result.trace is not None
    said = "the trainer here has no argument `gpus`: it was left out"
    assert said in [one.detail for one in result.trace.stubs]


@pytest.mark.parametrize(
    "used",
    [
        "optimizer = torch.optim.SGD(models.Net().parameters(), lr=0.1)",
        "loss = net(x).sum() + models.penalty(net)",
        "loss = models.loss(net(x)); loss.backward()",
        "net = torch.nn.Linear(models.WIDTH, 2)",
    ],
)
async def test_training_does_not_go_through_what_is_not_there(
    sandbox: RecordedSandbox, used: str
) -> None:
    script = f"import torch, models\nnet, x = torch.nn.Linear(2, 2), torch.ones(1, 2)\n{used}\n"
    result = await run(sandbox, script)
    assert result.status == "raised"
    assert result.trace is not None
    assert [(n.kind, n.name) for n in result.trace.needs] == [("package", "models")]


async def test_a_part_of_the_project_is_not_stood_in_for(sandbox: RecordedSandbox) -> None:
    files = {"train.py": "import nets.deep", "nets/flat.py": "x = 1"}
    result = await sandbox.run(Job(files=files))
    assert result.trace is not None
    assert [n.detail for n in result.trace.needs] == [
        "attach nets/deep.py, which is a part of the project"
    ]


ENDLESS = """\
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
while True:
    loss = net(torch.randn(4, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_training_that_does_not_end_is_followed_for_a_while(sandbox: RecordedSandbox) -> None:
    result = await sandbox.run(Job(files={"train.py": ENDLESS}, follow_s=1))
    assert result.status == "stopped"
    assert result.trace is not None
    assert len(result.trace.backwards) >= 8
