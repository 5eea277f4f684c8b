"""Limit questions about the log to some namespaces."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct

from relaybook.log.query.filters import Filter, Term


class Scope(Struct, frozen=True):
    """The namespaces whose requests exist for an asker.

    A pattern is a namespace, or a prefix with ``*``, such as ``team-*``. Without patterns, nothing exists. ``ALL``
    includes every namespace.
    """

    names: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    ALL: ClassVar["Scope"]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> "Scope":
        """Return the scope of some patterns."""
        patterns = tuple(patterns)
        prefixes = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
        return cls(tuple(pattern for pattern in patterns if not pattern.endswith("*")), prefixes)

    @property
    def is_all(self) -> bool:
        """Whether every namespace is in scope."""
        return "" in self.prefixes

    def includes(self, namespace: str) -> bool:
        """Return whether a namespace is in scope."""
        return namespace in self.names or namespace.startswith(self.prefixes)

    def narrow(self, filter_: Filter) -> Filter:
        """Return a filter that matches only those matches of ``filter_`` that are in scope."""
        if self.covers(filter_):
            return filter_
        return Filter((Term("namespace", self.names, prefixes=self.prefixes), *filter_.terms))

    def covers(self, filter_: Filter) -> bool:
        """Return whether every match of the filter is in scope, because the filter names its namespaces."""
        return self.is_all or any(map(self._covers, filter_.terms))

    def _covers(self, term: Term) -> bool:
        if term.name != "namespace" or term.negated or not (term.values or term.prefixes):
            return False
        has_prefixes = all(prefix.startswith(self.prefixes) for prefix in term.prefixes)
        return has_prefixes and all(map(self.includes, term.values))


Scope.ALL = Scope(prefixes=("",))
