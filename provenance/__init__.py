"""Define what is known of a value: where it was made, which names held it, what used its graph.

Static analysis and traced runs produce these types, and everything that explains or repairs a fault
reads them. A run's records are validated into them: the bounds of each field hold for records of a
hostile script, too. Lines are 1-based; files are spelled as in the request, library files keep
their module path (`torch/nn/modules/rnn.py`).
"""

from provenance.autograd import BackwardCall, CodeLine, InplaceWrite, Node, Referrer, StaleEdge
from provenance.bounds import Count, Text
from provenance.values import Binding, ValueKind, ValuePart, ValueShape

__all__ = [
    "BackwardCall",
    "Binding",
    "CodeLine",
    "Count",
    "InplaceWrite",
    "Node",
    "Referrer",
    "StaleEdge",
    "Text",
    "ValueKind",
    "ValuePart",
    "ValueShape",
]
