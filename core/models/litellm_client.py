"""litellm, imported late and kept from phoning home."""

from __future__ import annotations

import os
from typing import Any


def load_litellm() -> Any:
    """The module, with telemetry, its advertising prints and its hidden retries off.

    Its table of model prices is the one in the package: the import would otherwise fetch it over the network.
    Importing takes seconds. Raises ImportError.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.telemetry = False
    litellm.DEFAULT_MAX_RETRIES = 0  # embedding() takes `max_retries=0` for "not stated"; callers count their own
    litellm.suppress_debug_info = True
    return litellm


def worth_retrying(litellm: Any) -> tuple[type[Exception], ...]:
    """Failures that may pass by themselves."""
    return (
        litellm.Timeout,
        litellm.RateLimitError,
        litellm.APIConnectionError,
        litellm.InternalServerError,
        litellm.ServiceUnavailableError,
        litellm.BadGatewayError,
    )
