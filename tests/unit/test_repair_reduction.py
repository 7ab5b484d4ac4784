"""The hunks of a patch, and the patch with some of them."""

from __future__ import annotations

from app.repair.reduction import applied, hunks

BEFORE = {
    "train.py": "a = 1\nb = 2\nif a:\n    c = 3\nd = 4\n",
    "net.py": "x = 1\ny = 2\n",
}
AFTER = {
    "train.py": "a = 1\nb = 20\nif a:\n    c = 30\nd = 4\ne = 5\n",
    "net.py": "x = 1\nz = 0\ny = 2\n",
}


def test_the_hunks_of_a_patch_and_which_of_them_surely_ran() -> None:
    found = [(hunk.path, hunk.code[1], hunk.certain) for hunk in hunks(BEFORE, AFTER)]
    assert found == [
        ("train.py", 1, True),
        ("train.py", 3, False),
        ("train.py", 5, True),
        ("net.py", 1, True),
    ]


def test_all_hunks_give_the_patch_and_some_a_part_of_it() -> None:
    every = list(hunks(BEFORE, AFTER))
    assert applied(BEFORE, AFTER, every) == AFTER
    assert applied(BEFORE, AFTER, every[:1]) == {
        "train.py": BEFORE["train.py"].replace("b = 2", "b = 20")
    }
    assert applied(BEFORE, AFTER, every[2:]) == {
        "train.py": BEFORE["train.py"] + "e = 5\n",
        "net.py": AFTER["net.py"],
    }


def test_the_two_ends_of_a_move_stay_together() -> None:
    before = {"train.py": "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"}
    after = {"train.py": "b = 2\nc = 3\na = 1\nd = 4\ne = 50\n"}
    found = list(hunks(before, after))
    assert [one.moves(found) for one in found] == [True, True, False]


def test_where_a_call_is_moved_to_is_not_left_out() -> None:
    before = {"train.py": "y = f(x).detach()\nz = g(y)\nw = 1\n"}
    after = {"train.py": "y = f(x)\nz = g(y.detach())\nw = 2\n"}
    found = list(hunks(before, after))
    assert [one.moves(found) for one in found] == [False, True, False]


def test_nothing_is_sure_in_what_is_not_python() -> None:
    before = {"notes.txt": "one (\ntwo\n"}
    (hunk,) = hunks(before, {"notes.txt": "one (\nthree\n"})
    assert not hunk.certain
