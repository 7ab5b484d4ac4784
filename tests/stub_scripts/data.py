"""Data and files that were not sent."""

from __future__ import annotations

DATA: dict[str, tuple[set[str], str]] = {
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
    "data of a model in double precision": (
        {"waves.pt", "x.npy"},
        """
        import numpy as np, torch
        waves = torch.load("waves.pt")
        rows = torch.from_numpy(waves[3:, :-1])
        net = torch.nn.Linear(rows.shape[1], 1)
        net.double()
        assert net(rows).dtype == torch.float64 == torch.from_numpy(np.load("x.npy")).dtype
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
}
