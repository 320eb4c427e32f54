"""A home with a few documents that make every state of a page reachable, embedded without a model."""

from __future__ import annotations

from pathlib import Path

from core.home import Workbench
from core.types import Labels

PEOPLE = """
[default]
groups = ["staff"]
clearance = "internal"

[guest]
groups = []
clearance = "public"

[ann]
groups = ["staff", "finance"]
clearance = "confidential"
"""

DOCUMENTS = {
    "policies/refunds.md": """---
classification: public
quality: 20
---
# Refund policy

A refund to a credit card takes three working days.

## Gift cards

A refund to a gift card takes ten working days, and is refunded in full.
""",
    "policies/退款政策.md": """---
classification: public
---
# 退款政策

微信支付退款一个工作日到账。银行卡退款需要三个工作日。
""",
    "policies/leave.md": """---
classification: internal
---
# Leave

Unused vacation days expire in March. ＡＢＣ１２３ is the form for leave.
""",
    "finance/limits.md": """---
classification: confidential
acl_allow: [finance]
---
# Refund limits

Every refund above 500 pounds needs a second signature. ERR-5207 means that it is missing.
""",
    "copies/refunds-copy.md": """---
classification: public
---
# Refund policy

A refund to a credit card takes three working days.

## Gift cards

A refund to a gift card takes ten working days, and is refunded in full.
""",
    "hostile.md": """---
classification: public
---
# <img src=x onerror=alert(1)> hostile $x^2$

hostile <script>alert(1)</script> ![image](https://evil.example/a.png) [link](javascript:alert(1)) :red[colour] $y$
https://evil.example/auto <style>body{display:none}</style> </p></div><iframe src="https://evil.example"></iframe>

"""
    + "hostile" * 400,
    "=formula.md": """---
classification: public
---
# =SUM(A1:A9)

=HYPERLINK("https://evil.example") formula
""",
}


def make(home: Path, documents: dict[str, str] = DOCUMENTS, collection: str = "small") -> Path:
    """Write the people and the documents into `home`."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "principals.toml").write_text(PEOPLE, "utf-8")
    source = home / "source"
    for name, text in documents.items():
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    workbench = Workbench.open(home)
    operator = workbench.operator()
    workbench.create_collection(collection, operator, defaults=Labels("public", ("*",)), embedder="hash:64")
    workbench.ingest([source], collection, operator)
    return home
