"""The symbolic run: evaluates a project statement by statement along one plausible path.

Values that are known exactly decide conditions; a condition that cannot be decided is assumed,
once and for all while its operands stay the same, and the other way in a second run. So every
event that is reported lies on a path that the script could take.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from contextlib import contextmanager

from analyzers.evidence import Evidence
from analyzers.reading.budget import OutOfBudgetError, steps_for
from analyzers.reading.dispatch import CALLS, EXPRESSIONS, STATEMENTS, Signal
from analyzers.reading.facts import LoopFacts
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.gradients import Slots
from analyzers.reading.graph import Lost, NameBinding, Storage, TapeNode
from analyzers.reading.tape import LEAF, Tape
from analyzers.reading.torch_values import GradientValue, OptimizerValue
from analyzers.reading.values import AbstractTensor, AbstractValue, Instance, Sequence, Unknown
from analyzers.source.project import Project
from provenance import CodeLine

MAX_DEPTH = 60
MAX_CALLS = 24
MAX_RECURSION = 4
MAX_FINDINGS = 24


class Machine:
    """State of one run. `arm` says which way undecided two-armed conditions are assumed;
    `suspecting` is the family of the error to be explained, or nothing."""

    def __init__(
        self,
        project: Project,
        arm: int = 0,
        model_names: frozenset[str] = frozenset(),
        *,
        suspecting: str = "",
        leaf_names: frozenset[str] = frozenset(),
        reached: frozenset[str] = frozenset(),
        cloned_learners: frozenset[str] = frozenset(),
    ) -> None:
        self.project = project
        self.arm = arm
        self.steps = steps_for(project)
        self.tape = Tape(self.steps * 4, suspecting=bool(suspecting))
        self.suspecting = suspecting
        self.leaf_names = leaf_names
        self.reached = reached  # functions that the entry may come to
        self.guessed: dict[TapeNode, Storage] = {}
        # what made the losses that a frame has from outside
        self.unseen: dict[InterpreterFrame, TapeNode] = {}
        self.depth = 0
        self.active: list[ast.AST] = []
        self.facts: dict[ast.AST, LoopFacts] = {}
        self.frames = 0
        self.grad = True
        self.incomplete: dict[str, None] = {}
        self.evidence: dict[object, Evidence] = {}
        self.backward_places: dict[CodeLine, None] = {}
        self.sources: set[str] = set()
        self.assumed: dict[object, bool] = {}
        self.top: ast.stmt | None = None  # the outermost statement of the entry that runs now
        self.undecided: set[ast.stmt | None] = set()  # where one of two arms had to be assumed
        self.writes: set[tuple[object, ...]] = set()
        self.walrus: set[str] = set()  # names that expressions bind
        self.changed = 0  # when an object or a container took on a value, or a tensor was written
        self.moving = False
        self.measured: dict[int, tuple[Sequence, set[bool]]] = {}  # with what its length decided
        self.asked: int | None = None  # of which one the length was asked last
        self.decisions: dict[ast.AST, object] = {}
        self.compared: object = None
        self.counters: dict[tuple[int, str], dict[str, AbstractValue]] = {}
        self.modules: dict[str, InterpreterFrame] = {}
        self.captured: list[InterpreterFrame] = []  # those that functions close over
        self.entered: set[int] = set()
        # by the generator's call
        self.consumers: dict[ast.expr, Callable[[AbstractValue], None]] = {}
        self.consumer: Callable[[AbstractValue], None] | None = None  # of the generator called now
        self.zeroings = 0
        self.gradients = Slots()
        self.optimizers: list[tuple[OptimizerValue, InterpreterFrame]] = []
        self.unfollowed: set[TapeNode] = set()  # graphs handed to what is not seen
        # leaves that the script changes by hand, or gives gradients
        self.fed: set[TapeNode] = set()
        self.library: list[str] = []
        self.model_names = model_names
        self.cloned_learners = cloned_learners

    @contextmanager
    def feeding(
        self, call: ast.expr, consumer: Callable[[AbstractValue], None] | None
    ) -> Iterator[None]:
        """Give what a generator's call yields to the consumer, if there is one, within the block.

        Calls of the same generator may be nested.
        """
        outer = self.consumers
        self.consumers = {**outer, call: consumer} if consumer is not None else outer
        try:
            yield
        finally:
            self.consumers = outer

    def evaluate(self, node: ast.expr, frame: InterpreterFrame) -> AbstractValue:
        """Return the value of an expression; unknown if it is not followed."""
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudgetError
        if self.depth >= MAX_DEPTH:  # one deep expression does not end the whole reading
            self.gave_up("expressions nested too deeply")
            return Unknown()
        self.depth += 1
        try:
            return EXPRESSIONS[type(node)](self, node, frame)
        finally:
            self.depth -= 1

    def execute(self, body: Seq[ast.stmt], frame: InterpreterFrame) -> Signal | None:
        """Execute a block; return why it ended early, or None."""
        for statement in body:
            self.steps -= 1
            if self.steps < 0:
                raise OutOfBudgetError
            handler = STATEMENTS.get(type(statement))
            if handler is None:
                continue
            frame.line, frame.column = statement.lineno, statement.col_offset
            signal = handler(self, statement, frame)
            if signal is not None:
                return signal
        return None

    def call(
        self,
        callee: AbstractValue,
        args: list[AbstractValue],
        kwargs: dict[str, AbstractValue],
        frame: InterpreterFrame,
    ) -> AbstractValue:
        """Return the result of calling a value; unknown for what cannot be called."""
        caller = CALLS.get(type(callee))
        return Unknown() if caller is None else caller(self, callee, args, kwargs, frame)

    def invoke(
        self, owner: Instance, name: str, args: list[AbstractValue], frame: InterpreterFrame
    ) -> AbstractValue:
        """Call a method that the instance's class defines in the script."""
        method = owner.cls.lookup(name)
        if method is None:
            return Unknown()
        return self.call(method, [owner, *args], {}, frame)

    def facts_of(self, node: ast.stmt) -> LoopFacts:
        """Return the syntactic facts of a loop, computed once."""
        facts = self.facts.get(node)
        if facts is None:
            facts = self.facts[node] = LoopFacts(node)
        return facts

    def gave_up(self, reason: str) -> None:
        """Remember that something was not followed."""
        self.incomplete[reason] = None

    def new_frame(
        self,
        file: str,
        function: str,
        parent: InterpreterFrame | None = None,
        caller: InterpreterFrame | None = None,
        module: InterpreterFrame | None = None,
    ) -> InterpreterFrame:
        """Return a new activation, with a number of its own."""
        self.frames += 1
        return InterpreterFrame(file, function, self.frames, parent, caller, module)

    def report(self, key: object, found: Evidence) -> None:
        """Keep a piece of evidence, once for each key."""
        if len(self.evidence) < MAX_FINDINGS:
            self.evidence.setdefault(key, found)
        self.writes.add(("found", key))

    def release(self) -> None:
        """Break reference cycles: frames and their functions, backward calls and the graphs they
        freed.

        What the run made is then freed at once; the garbage collector need not look through it.
        """
        for frame in (*self.modules.values(), *self.captured):
            frame.names.clear()
        for traversal in self.tape.calls:
            traversal.roots = ()

    # Making values

    def tensor(
        self,
        op: str,
        parents: tuple[TapeNode, ...],
        frame: InterpreterFrame,
        saves: bool | None = None,
        scalar: bool | None = None,
        ended: tuple[Lost, ...] = (),
    ) -> AbstractTensor:
        """Return the result of an operation on graphs, without one while recording is off.

        `ended`: graphs among its operands that had ended already.
        """
        if not self.grad:
            lost = Lost("no_grad", frame.place(), parents, ended, frame.stack())
            return AbstractTensor(lost=lost, scalar=scalar)
        node = self.tape.node(op, frame.place(), parents, saves)
        node.ended = ended
        return AbstractTensor(node, scalar=scalar)

    def leaf_node(self, frame: InterpreterFrame, lost: Lost | None = None) -> TapeNode:
        """Return a node for a leaf that requires a gradient; `lost`: where its data lost a
        graph."""
        node = self.tape.node(LEAF, frame.place(), (), saves=False)
        node.leaf = node.strong = True
        node.ended = (lost,) if lost is not None else ()
        return node

    def gradient_set(self, owner: AbstractValue) -> None:
        """Record `p.grad = None` or its like."""
        self.zeroings += 1
        leaf = owner.leaf if isinstance(owner, GradientValue) else owner.node
        if leaf is not None:
            self.gradients.replaced(leaf)
        else:
            self.gradients.zeroed(None)
        if owner.node is not None:
            self.fed.add(owner.node)

    def changed_by_hand(self, leaf: TapeNode) -> None:
        """Record a write to a parameter: once training has begun, it need not learn by
        gradients."""
        if self.tape.calls:
            self.fed.add(leaf)

    def write(self, target: object, value: AbstractValue) -> None:
        """Note what a name took on: loops run until these notes repeat."""
        node = value.node
        if node is not None:
            above = [(p.at.line, p.freed is not None) for p in node.parents[:6]]
            self.writes.add((target, node.at.line, node.freed is not None, *above))

    def bind(self, frame: InterpreterFrame, name: str, value: AbstractValue) -> None:
        """Give a value to a plain name."""
        if frame.elsewhere:
            frame = frame.elsewhere.get(name, frame)
        frame.names[name] = value
        log = frame.logs.get(name)
        if log is None:
            log = frame.logs[name] = []
        moment = self.tape.tick()
        log.append(moment)
        if value.node is None and not value.keeps_names:
            return
        kind, scope = "global" if frame.module is None else "local", frame.function
        self.name(value, NameBinding(name, scope, kind, "Tensor", frame.serial, log, moment))
        if value.node is not None:
            self.write((scope, name), value)

    def name(self, value: AbstractValue, binding: NameBinding, depth: int = 0) -> None:
        """Record at the graph of a value a name that is bound to it."""
        names = value.names
        if names is not None:
            names.append(binding)
            del names[:-6]
            if depth < 3:
                self._name_parts(value, binding, depth)
        elif (node := value.node) is not None:
            node.names.append(binding)
            del node.names[:-24]
        elif isinstance(value, Instance) and depth < 2:
            for field in (value.cls.fields or ())[:8]:
                if field in value.attrs:
                    self.name(value.attrs[field], binding.member(field), depth + 1)
        if isinstance(value, AbstractTensor):
            value.storage.names.append(binding)
            del value.storage.names[:-6]

    def _name_parts(self, value: AbstractValue, binding: NameBinding, depth: int) -> None:
        items: object = getattr(value, "items", None)
        parts: list[tuple[object, AbstractValue]] = []
        if isinstance(items, list):
            parts = list(enumerate(items[-6:], max(len(items) - 6, 0)))
        elif isinstance(items, dict):
            parts = list(items.items())[:8]
        kind = getattr(value, "kind", "dict")
        for key, part in parts:
            if part.node is not None or part.keeps_names:
                self.name(part, binding.within(key, kind), depth + 1)
