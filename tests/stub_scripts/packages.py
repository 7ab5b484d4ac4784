"""Packages and older APIs that are not installed."""

from __future__ import annotations

PACKAGES: dict[str, tuple[set[str], str]] = {
    "gym in its old signatures": (
        {"gym", "HalfCheetah-v2"},
        """
        import gym
        from gym import spaces
        from gym.envs.registration import register
        env = gym.make("CartPole-v0")
        env.seed(1)
        steps, done, state = 0, False, env.reset()
        assert isinstance(env.observation_space, spaces.Box) and state.shape == (4,)
        first = state.tolist()
        while not done:
            state, reward, done, info = env.step(env.action_space.sample())
            steps += 1
        assert 5 < steps <= env._max_episode_steps and env.action_space.n == 2
        env.seed(1)
        assert env.reset().tolist() == first
        class Half(gym.ObservationWrapper):
            def observation(self, seen):
                return seen[:2]
        turned = Half(gym.make("Pendulum-v0"))  # of which a later version is known
        assert turned.reset().shape == (2,) and turned.step([0.5])[0].shape == (2,)
        seen, _ = gym.make("HalfCheetah-v2").reset(), gym.wrappers.Monitor(env, "videos")
        assert seen.shape == (17,)
        both = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1")] * 3)
        assert both.reset().shape == (3, 6)
        states, rewards, done, info = both.step([0, 1, 2])
        assert states.shape == (3, 6) and done.shape == (3,)
        class Own(gym.Env):
            action_space = spaces.Discrete(2)
            def reset(self):
                return 7
        register(id="Own-v0", entry_point=Own)
        assert gym.make("Own-v0").reset() == 7
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
        {"transformers.AdamW", "bert", "gpt-neo"},
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
        assert AutoModel.from_pretrained("gpt-neo", dtype="auto").dtype == torch.float32
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
