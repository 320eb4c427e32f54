"""Who is asking.

The app runs on its operator's own machine: a person of principals.toml is chosen, and the address may carry the choice.
Where users sign in, this function is the one to replace; nothing else in the app decides who somebody is.
"""

from __future__ import annotations

from core.home import Workbench
from core.types import Principal


def identity(workbench: Workbench, named: str) -> Principal:
    """The principal of exactly this name; an empty one means `[default]`. Raises PermissionUnavailable, and never
    stands somebody else in."""
    return workbench.principal(named or None)
