"""The reference takes every default from the signature, also of parameters described together."""

from typing import Any

import griffe


class SignatureDefaults(griffe.Extension):
    """Set the default of each documented parameter to that of the signature."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Mend every docstring of a loaded package."""
        mend(pkg)


def mend(owner: griffe.Object) -> None:
    """Mend the docstrings of an object and of all that it holds."""
    for member in owner.members.values():
        if member.is_alias:
            continue
        if member.docstring and (member.is_class or member.is_function):
            _mend_docstring(member)
        mend(member)


def _mend_docstring(member: griffe.Object) -> None:
    signature = {one.name: one for one in member.parameters}
    for section in member.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for told in section.value:
                if told.name in signature:
                    default = signature[told.name].default
                    told.value = None if default is None else str(default)
