"""Real packages, and resources that are missing: tables, weights, environments, data sets."""

from __future__ import annotations

from textwrap import dedent

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from sandbox.protocol import Job, RunResult, Session
from tests.recorded.box import RecordedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

TABLE = """\
import pandas as pd
import torch
from torch import nn

frame = pd.read_csv("data/train.csv")
x = torch.tensor(frame.drop(columns=["target"]).values, dtype=torch.float32)
y = torch.tensor(frame["target"].values, dtype=torch.float32).view(-1, 1)
gru, head = nn.GRU(8, 16, batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*gru.parameters(), *head.parameters()])
hidden = torch.zeros(1, 8, 16)
for start in range(0, 64, 8):
    out, hidden = gru(x[start : start + 8].unsqueeze(1), hidden)
    loss = (head(out[:, -1]) - y[start : start + 8]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WEIGHTS = """\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
labels = torch.tensor([1, 0])
total = 0
for step in range(4):
    batch = tokenizer(["a good film", "a bad one"], padding=True, return_tensors="pt")
    total = total + model(**batch, labels=labels).loss
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
"""
ADAPTERS = """\
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

base = AutoModelForCausalLM.from_pretrained("some/gpt2-like")
model = PeftModel.from_pretrained(base, "some/adapter"{more})
learning = [name for name, p in model.named_parameters() if p.requires_grad]
assert bool(learning) == {learns}
assert all("lora_" in name for name in learning)
"""
each_lacking = pytest.mark.parametrize(
    ("script", "pattern", "missing"),
    [
        (TABLE, "recurrent-state", "data/train.csv"),
        (WEIGHTS, "accumulated-loss", "bert-base-uncased"),
    ],
    ids=["table", "weights"],
)


async def ran(sandbox: Session, script: str) -> RunResult:
    result = await sandbox.run(Job(files={"train.py": dedent(script)}, time_limit_s=60))
    assert result.status == "finished", result.raised or result.reason
    return result


def assumed(result: RunResult) -> set[str]:
    assert result.trace is not None
    return {one.name for one in result.trace.assumed}


@each_lacking
async def test_a_fault_is_confirmed_and_fixed_without_the_resource(
    service: Service, script: str, pattern: str, missing: str
) -> None:
    found = await service.ask(DiagnosisRequest(script=script, time_limit_s=40), RUNNING)
    assert found.causes[0].pattern == pattern, found.summary
    assert found.patches[0].verification.status == "passed"
    assert missing in {one.name for one in found.world}
    assert found.run is not None
    assert not found.run.stand_ins  # the packages are the real ones


async def test_a_table_has_the_columns_that_are_asked_for(sandbox: RecordedSandbox) -> None:
    result = await ran(
        sandbox,
        """
        import pandas as pd
        frame = pd.read_csv("houses.csv")
        assert type(frame) is pd.DataFrame
        assert set(frame["species"]) == {0, 1} and isinstance(frame["image_path"][0], str)
        assert frame[["area", "rooms"]].to_numpy().shape == (len(frame), 2)
        assert frame.price.dtype.kind == "f"
        part = frame.sample(frac=0.5, random_state=0).reset_index(drop=True)
        assert part["area"].notna().all()
        train, held = frame[frame["split"] == "train"], frame[frame["split"] == "val"]
        assert len(train) == len(held) == len(frame) / 2
        assert set(frame[frame["kind"].isin(["flat", "house"])]["kind"]) == {"flat", "house"}
        for _, row in part.head(2).iterrows():
            assert isinstance(row["weight"], float) and isinstance(row.title, str)
        named = pd.read_csv("more.csv", names=["a", "b"])
        assert list(named.columns) == ["a", "b"]
        told = pd.read_csv("claims.csv").dropna(subset=["text"]).sort_values("weight")
        rows = told.to_dict("records")
        assert isinstance(rows[0]["text"], str) and rows[0]["label"] in (0, 1)
        """,
    )
    assert assumed(result) == {"houses.csv", "more.csv", "claims.csv"}


async def test_a_data_set_has_what_a_table_with_the_same_columns_has(
    sandbox: RecordedSandbox,
) -> None:
    result = await ran(
        sandbox,
        """
        import pandas as pd
        from datasets import load_dataset
        table, rows = pd.read_csv("reviews.csv"), load_dataset("reviews", split="train")
        names = ["text", "sentence1", "text_length", "label", "user_id", "y", "price", "content"]
        kinds = [type(rows[5][name]) for name in names]
        assert kinds == [str, str, float, int, int, int, float, str]
        for name in [*names, "alcohol_content", "image_path", "split"]:
            assert [row[name] for row in rows] == table[name].tolist()[: len(rows)], name
        assert len(rows.filter(lambda row: row["split"] == "val")) == len(rows) / 2
        assert (table["split"] == "train").sum() == len(table) / 2
        assert rows[0]["image"].shape == (32, 32, 3) and isinstance(table["image"][0], str)
        """,
    )
    assert assumed(result) == {"reviews.csv", "reviews"}


async def test_missing_arguments_are_those_that_the_sources_show(sandbox: RecordedSandbox) -> None:
    script = """
        import argparse
        # python train.py small.json
        parser = argparse.ArgumentParser()
        parser.add_argument("config")
        assert parser.parse_args().config == "small.json"
        """
    assert assumed(await ran(sandbox, script)) == {"sys.argv"}


async def test_a_table_that_was_sent_is_read(sandbox: RecordedSandbox) -> None:
    script = "import pandas as pd\nprint(pd.read_csv('t.csv').columns.tolist())\n"
    result = await sandbox.run(Job(files={"train.py": script, "t.csv": "a,b\n1,2\n"}))
    assert result.stdout_tail == "['a', 'b']\n"
    assert not assumed(result)
    absent = "import pandas as pd\npd.read_csv('t.csv')['c']\n"
    result = await sandbox.run(Job(files={"train.py": absent, "t.csv": "a,b\n1,2\n"}))
    assert result.raised is not None
    assert result.raised.type == "KeyError"


@pytest.mark.parametrize(
    ("name", "kind", "model"),
    [
        ("gpt2", "AutoModelForCausalLM", "GPT2LMHeadModel"),
        ("meta-llama/Llama-2-7b-hf", "AutoModelForCausalLM", "LlamaForCausalLM"),
        ("google/flan-t5-small", "T5ForConditionalGeneration", "T5ForConditionalGeneration"),
        ("distilbert-base-uncased", "DistilBertModel", "DistilBertModel"),
        ("sentence-transformers/all-MiniLM-L6-v2", "AutoModel", "BertModel"),
    ],
)
async def test_weights_are_a_small_model_of_the_right_class(
    sandbox: RecordedSandbox, name: str, kind: str, model: str
) -> None:
    result = await ran(
        sandbox,
        f"""
        import transformers
        tokenizer = transformers.AutoTokenizer.from_pretrained({name!r})
        model = transformers.{kind}.from_pretrained({name!r})
        assert type(model).__name__ == {model!r} and not model.training
        words = tokenizer("two words", return_tensors="pt")
        if model.config.is_encoder_decoder:
            words["decoder_input_ids"] = words["input_ids"]
        model(**words)
        assert tokenizer.decode(words["input_ids"][0], skip_special_tokens=True) == "two words"
        assert sum(p.numel() for p in model.parameters()) < 5e7
        """,
    )
    assert name in assumed(result)


async def test_weights_at_an_address(sandbox: RecordedSandbox) -> None:
    result = await ran(
        sandbox,
        """
        import torch
        from torch import nn
        from torch.hub import load_state_dict_from_url
        from torch.utils import model_zoo
        net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        before = net[0].weight.clone()
        state = load_state_dict_from_url("https://example.org/models/net-1a2b.pth", progress=False)
        state.pop("1.weight")
        assert net.load_state_dict(state, strict=False).missing_keys == []
        net.load_state_dict(model_zoo.load_url("https://example.org/other.pth"))
        assert torch.equal(net[0].weight, before)
        model = torch.hub.load("pytorch/vision:v0.10.0", "resnet18", pretrained=True)
        assert model.fc.in_features == 512 and model(torch.ones(2, 3, 32, 32)).shape == (2, 1000)
        other = torch.hub.load("someone/models", "their_net")
        assert other(torch.ones(2, 3, 32, 32)).requires_grad
        """,
    )
    names = {"net-1a2b.pth", "other.pth", "pytorch/vision:v0.10.0: resnet18"}
    assert assumed(result) == {*names, "someone/models: their_net"}


async def test_an_environment_without_its_simulator(sandbox: RecordedSandbox) -> None:
    result = await ran(
        sandbox,
        """
        import gymnasium as gym
        env = gym.make("HalfCheetah-v4")
        state, info = env.reset(seed=1)
        assert state.shape == env.observation_space.shape == (17,)
        steps, done = 0, False
        while not done:
            state, reward, terminated, truncated, info = env.step(env.action_space.sample())
            steps, done = steps + 1, terminated or truncated
        assert 5 < steps < 50 and env.action_space.shape == (6,)
        assert gym.make("CartPole-v1").spec.id == "CartPole-v1"
        """,
    )
    assert assumed(result) == {"HalfCheetah-v4"}


async def test_a_synthesized_environment_has_the_same_episodes_in_each_run(
    sandbox: RecordedSandbox,
) -> None:
    script = """
        import gymnasium as gym
        for env in (gym.make("HalfCheetah-v4"), gym.make("HalfCheetah-v4")):
            print(env.reset()[0][0], env.step(env.action_space.sample())[1])
        """
    once, again = [(await ran(sandbox.real, script)).stdout_tail for _ in range(2)]
    assert once == again
    assert len({*once.splitlines()}) == 2


async def test_a_data_set_that_cannot_be_downloaded(sandbox: RecordedSandbox) -> None:
    result = await ran(
        sandbox,
        """
        from sklearn.datasets import fetch_california_housing, load_iris
        from sklearn.preprocessing import StandardScaler
        x, y = fetch_california_housing(return_X_y=True)
        assert x.shape == (512, 8) and y.shape == (512,)
        assert StandardScaler().fit_transform(load_iris().data).shape == (150, 4)
        """,
    )
    assert assumed(result) == {"fetch_california_housing"}


@pytest.mark.parametrize(("more", "learns"), [(", is_trainable=True", True), ("", False)])
async def test_an_adapter_that_was_not_sent_learns_if_asked_to(
    sandbox: RecordedSandbox, more: str, learns: bool
) -> None:
    result = await ran(sandbox, ADAPTERS.format(more=more, learns=learns))
    assert assumed(result) == {"some/gpt2-like", "some/adapter"}
