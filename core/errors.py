"""The error tree: every failure a caller can act on, each with its remedy.

CoreError
├── InputError                  the request is wrong; nothing was done
│   ├── UnknownCollection
│   ├── UnknownDocument         also for a document the asker may not see
│   ├── UnknownEvidence         also for evidence the asker may not see, or was not shown
│   ├── AmbiguousDocument       one name, several documents: which?
│   ├── LocationWithoutDocument
│   ├── SettingsError
│   ├── MetadataError
│   ├── UnreadableFile          one file of many; the others go in
│   └── EmbedderMismatch        collection and embedder do not fit
├── PermissionUnavailable       who is asking could not be established
├── RoleMissing                 established, but may not do this
├── EmbedderUnavailable         the model cannot be loaded or called
├── AuditUnavailable            no durable record, so no answer
├── IntegrityFailure            stored text is not what was stored
└── StoreFailure                the storage could not be read or written
"""

from __future__ import annotations

from collections.abc import Sequence


class CoreError(Exception):
    """Root of the tree.

    `message` says what is wrong in one line, `remedy` what mends it (may be empty).
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def line(self) -> str:
        """Message and remedy in one line, for a terminal or a log."""
        text = f"{self.message}: {self.remedy}" if self.remedy else self.message
        return " ".join(text.split())


class InputError(CoreError):
    exit_code = 2


class UnknownCollection(InputError):
    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        self.name = name
        hint = f"known collections: {', '.join(known)}" if known else "create one with `workbench collections create`"
        super().__init__(f"no collection {name!r}", hint)


class UnknownDocument(InputError):
    """Raised alike for a document that does not exist and one the asker may not see."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no document {name!r}", "`workbench documents list` shows those you may see")


class UnknownEvidence(InputError):
    """Raised alike for evidence that does not exist, that was shown to others, and that may no longer be seen."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no evidence {name!r}", "search again: evidence ids are those of one search, for its asker")


class AmbiguousDocument(InputError):
    """A file name stands for several visible documents; `choices` are their paths."""

    def __init__(self, name: str, choices: Sequence[str]) -> None:
        self.name = name
        self.choices = tuple(choices)
        super().__init__(f"{name!r} names {len(choices)} documents", f"say which: {', '.join(choices)}")


class LocationWithoutDocument(InputError):
    def __init__(self, given: str) -> None:
        super().__init__(f"a {given} says nothing without a document", "name the document as well")


class SettingsError(InputError):
    def __init__(self, key: str, problem: str, remedy: str = "") -> None:
        self.key = key
        super().__init__(f"setting {key}: {problem}", remedy)


class MetadataError(InputError):
    pass


class UnreadableFile(InputError):
    """One file cannot be ingested; `path` as the user gave it."""

    def __init__(self, path: str, reason: str, remedy: str = "") -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}", remedy)


class EmbedderMismatch(InputError):
    pass


class PermissionUnavailable(CoreError):
    exit_code = 4


class RoleMissing(CoreError):
    exit_code = 4

    def __init__(self, actor: str, role: str, collection: str) -> None:
        self.actor = actor
        self.role = role
        self.collection = collection
        super().__init__(
            f"{actor!r} lacks the role {role!r} on {collection!r}",
            "an operator grants it in principals.toml",
        )


class EmbedderUnavailable(CoreError):
    pass


class AuditUnavailable(CoreError):
    pass


class IntegrityFailure(CoreError):
    pass


class StoreFailure(CoreError):
    pass
