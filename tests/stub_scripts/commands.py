"""Functions of the script's own that unknown packages are given: they are to run."""

from __future__ import annotations

COMMANDS: dict[str, tuple[set[str], str]] = {
    "a command of an unknown package, with options": (
        {"unheard", "--layers", "--data"},
        """
        import unheard
        ran = []
        @unheard.command()
        @unheard.option("--lr", default=0.1, help="rate")
        @unheard.option("--mode", "-m", type=unheard.Choice(["train", "test"]), required=True)
        @unheard.option("--layers", type=int, required=True)
        @unheard.option("--amp", is_flag=True)
        @unheard.argument("data")
        @unheard.pass_context
        def main(context, lr, mode, layers, amp, data):
            ran.append((lr, mode, layers, amp, data))
        main()
        assert ran == [(0.1, "train", 1, False, "data")]
        """,
    ),
    "a group of commands of an unknown package": (
        {"unheard"},
        """
        import unheard
        ran = []
        @unheard.group()
        def cli():
            ran.append("cli")
        @cli.command()
        def evaluate():
            ran.append("evaluate")
        @cli.command()
        @unheard.option("--lr", default=0.1)
        def train(lr):
            ran.append(lr)
        cli()
        assert ran == ["cli", 0.1]
        """,
    ),
    "settings of an unknown package": (
        {"unheard", "cfg"},
        """
        import unheard
        ran = []
        @unheard.main(config_path="conf", config_name="config")
        def main(cfg: unheard.DictConfig):
            ran.append(cfg.optim.lr * cfg.epochs)
        main()
        assert ran[0] > 0
        """,
    ),
    "a class that is passed to an unknown package at the end": (
        {"unheard", "Trainer.train", "--width"},
        """
        import unheard
        class Trainer:
            def __init__(self, width: int, lr=0.1):
                self.lr = lr * width
            def describe(self): raise AssertionError
            def train(self, steps=2):
                assert self.lr > 0 and steps == 2
        if __name__ == "__main__":
            unheard.Fire(Trainer)
        """,
    ),
    "functions that are passed to an unknown package stay what they are": (
        {"unheard"},
        """
        import unheard
        ran = []
        @unheard.jit
        def double(x):
            return 2 * x
        @unheard.jit(cache=True)
        def triple(x):
            return 3 * x
        def main():
            ran.append(double(1) + triple(1))
        main()
        unheard.register(main)
        assert ran == [5]
        unheard.finish()
        """,
    ),
}

# The last thing that these do is to call a package that is not there.
ENDING = {
    "with the function": "import unheard\ndef train(lr=0.1): {ran}\nunheard.run(train)",
    "with the function's options": (
        "import unheard\ndef train(lr=unheard.Option(0.1, help='rate')): {ran}\n"
        "if __name__ == '__main__':\n    unheard.run(train)"
    ),
    "with a class": "from unheard import Fire\ndef train(lr=0.1): {ran}\nFire(train)",
    "with functions by their names": (
        "import unheard\ndef train(lr=0.1): {ran}\nunheard.Fire({{'train': train}})"
    ),
    "in a function": (
        "from unheard import Fire\ndef train(lr=0.1): {ran}\ndef cli():\n    Fire()\ncli()"
    ),
    "that decorated it": (
        "import unheard\napp = unheard.App()\n@app.command()\ndef test(): pass\n"
        "@app.command()\ndef train(lr: float = 0.1): {ran}\napp()"
    ),
    "whose result ends the script": (
        "import sys, unheard\napp = unheard.App()\n@app.command()\n"
        "def train(lr: float = 0.1): {ran}\nif __name__ == '__main__':\n    sys.exit(app())"
    ),
}
