"""How slices begin: the one of rules without slice fields, and those of the next answer.

And what they forget of letters past the cap.
"""

from __future__ import annotations

from conformance.rules.forms.base import Context, Letter, Slice
from conformance.rules.group import Group, JointState


def carried_on(group: Group, before: Slice, slice_: Slice) -> Slice:
    """The slice of the next answer, with what rules that go on know of the answers before."""
    if not group.kept:
        return slice_
    slice_.marks, slice_.frame = before.marks, before.frame
    order = max((when for when, _, _ in before.marks.values()), default=0)
    slice_.opened = [order + 1] * len(group.machines)
    for position in group.kept:
        slice_.state = group.replaced(slice_.state, position, before.state.parts[position])
        slice_.memory[position] = before.memory[position]
        slice_.opened[position] = before.opened[position]
    return slice_


def begun_slice(group: Group, begun: JointState, context: Context) -> Slice:
    """The only slice of rules that have no slice fields."""
    slice_ = Slice((), begun, len(group.machines), context)
    for position, memory in group.kept_by(begun):
        slice_.memory[position] = memory()
    return slice_


def forget_alike(marks: dict[Letter, tuple[int, int, str]], letter: Letter) -> None:
    """Past the cap equal letters may be different objects: the older one is dropped."""
    for other in [each for each in marks if each.code < 0 and each.names == letter.names]:
        del marks[other]
