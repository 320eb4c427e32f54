import itertools
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.scope import (
    NEVER_EXPIRES,
    NEVER_REVISED,
    Bools,
    boundaries,
    boundary_index,
    expires,
    in_force,
    in_force_mask,
    microseconds,
    revised,
)
from core.types import Document, Labels, Status

DAY = timedelta(days=1)
T0 = datetime(2025, 1, 1, tzinfo=UTC)


def document(
    knowledge: str = "k",
    revised_at: datetime | None = None,
    status: Status = "active",
    valid_until: datetime | None = None,
    name: str = "d",
) -> Document:
    return Document(
        document_id=name,
        path=f"{name}.md",
        title=name,
        text_hash="",
        source_hash="",
        parser="text 1",
        labels=Labels(),
        knowledge_id=knowledge,
        revision="1",
        revised_at=revised_at,
        status=status,
        valid_until=valid_until,
    )


def force(documents: list[Document], as_of: datetime = T0, visible: list[bool] | None = None) -> list[bool]:
    return in_force(documents, [True] * len(documents) if visible is None else visible, as_of)


def test_the_newest_revision_stands() -> None:
    assert force([document(revised_at=T0 - DAY), document(revised_at=T0), document()]) == [False, True, False]


def test_other_knowledge_is_never_compared() -> None:
    assert force([document("a", T0 - DAY), document("b", T0), document("c")]) == [True, True, True]


def test_equally_new_ones_all_stand() -> None:
    assert force([document(revised_at=T0), document(revised_at=T0), document(revised_at=T0 - DAY)]) == [
        True,
        True,
        False,
    ]
    assert force([document(), document()]) == [True, True]


def test_a_revision_stands_from_its_moment_on() -> None:
    pair = [document(revised_at=T0 - DAY), document(revised_at=T0)]
    assert force(pair, T0 - timedelta(microseconds=1)) == [True, False]
    assert force(pair, T0) == [False, True]


def test_validity_ends_at_its_moment() -> None:
    only = [document(valid_until=T0)]
    assert force(only, T0 - timedelta(microseconds=1)) == [True]
    assert force(only, T0) == [False]


@pytest.mark.parametrize(
    "newer",
    [
        document(revised_at=T0, status="deprecated"),
        document(revised_at=T0, status="revoked"),
        document(revised_at=T0, valid_until=T0),
        document(revised_at=T0 + DAY),
        document(revised_at=T0, status="draft"),  # type: ignore[arg-type]
    ],
)
def test_one_that_is_not_in_force_itself_displaces_nothing(newer: Document) -> None:
    assert force([document(revised_at=T0 - DAY), newer]) == [True, False]


def test_a_hidden_revision_displaces_nothing() -> None:
    pair = [document(revised_at=T0 - DAY), document(revised_at=T0)]
    assert force(pair, visible=[True, False]) == [True, False]


def test_times_need_a_zone_and_zones_do_not_matter() -> None:
    with pytest.raises(InputError):
        force([document()], datetime(2025, 1, 1))
    far = T0.astimezone(timezone(timedelta(hours=9, minutes=30)))
    assert microseconds(far) == microseconds(T0) == 1_735_689_600_000_000
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1
    extremes = [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
    assert NEVER_REVISED < microseconds(extremes[0]) < microseconds(extremes[1]) < NEVER_EXPIRES


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        in_force([document()], [], T0)


# One draw a document, from all combinations: drawing the parts one by one takes ten times as long.
STATUSES: tuple[Status, ...] = ("active", "active", "active", "deprecated", "revoked")
MOMENTS = (None, *(T0 + days * DAY for days in range(-3, 4)))
rows = st.lists(
    st.sampled_from(
        [
            (document(knowledge, revised_at, status, valid_until), visible)
            for knowledge, revised_at, status, valid_until, visible in itertools.product(
                "abc", MOMENTS, STATUSES, MOMENTS, (True, True, False)
            )
        ]
    ),
    max_size=12,
)


def mask(held: list[Document], visible: list[bool], as_of: int, numbers: dict[str, int]) -> Bools:
    return in_force_mask(
        np.array([numbers[item.knowledge_id] for item in held], dtype=np.int64),
        np.array([revised(item) for item in held], dtype=np.int64),
        np.array([item.status == "active" for item in held], dtype=np.bool_),
        np.array([expires(item) for item in held], dtype=np.int64),
        np.array(visible, dtype=np.bool_),
        as_of,
    )


NUMBERINGS = [{"a": 0, "b": 1, "c": 2}, {"a": 10**15, "b": -7, "c": 3}]


@settings(max_examples=400, deadline=None)
@given(rows, st.integers(-4, 4), st.sampled_from([0, -1, 1]), st.sampled_from(NUMBERINGS))
def test_rule_and_mask_agree(
    given_rows: list[tuple[Document, bool]], days: int, shift: int, numbers: dict[str, int]
) -> None:
    held, visible = [row[0] for row in given_rows], [row[1] for row in given_rows]
    as_of = T0 + days * DAY + timedelta(microseconds=shift)
    assert mask(held, visible, microseconds(as_of), numbers).tolist() == in_force(held, visible, as_of)


@settings(max_examples=300, deadline=None)
@given(rows, st.integers(-4, 4))
def test_what_is_hidden_changes_nothing(given_rows: list[tuple[Document, bool]], days: int) -> None:
    as_of = T0 + days * DAY
    held, visible = [row[0] for row in given_rows], [row[1] for row in given_rows]
    alone = [item for item, seen in given_rows if seen]
    whole = in_force(held, visible, as_of)
    assert [kept for kept, seen in zip(whole, visible, strict=True) if seen] == force(alone, as_of)
    assert not any(kept for kept, seen in zip(whole, visible, strict=True) if not seen)


@settings(max_examples=300, deadline=None)
@given(rows, st.integers(0, 17), st.integers(0, 17))
def test_masks_change_only_at_boundaries(given_rows: list[tuple[Document, bool]], one: int, other: int) -> None:
    held, visible = [row[0] for row in given_rows], [row[1] for row in given_rows]
    times = boundaries(
        np.array([revised(item) for item in held], dtype=np.int64),
        np.array([expires(item) for item in held], dtype=np.int64),
    )
    assert times.tolist() == sorted(set(times.tolist()))
    half = microseconds(T0 + DAY / 2) - microseconds(T0)
    first, second = (microseconds(T0) + (step - 8) * half for step in (one, other))
    if boundary_index(times, first) == boundary_index(times, second):
        same = NUMBERINGS[0]
        assert mask(held, visible, first, same).tolist() == mask(held, visible, second, same).tolist()


def test_boundary_index_counts_the_boundary_itself() -> None:
    times = boundaries(np.array([NEVER_REVISED, 5, 9]), np.array([NEVER_EXPIRES, 9, 20]))
    assert times.tolist() == [5, 9, 20]
    assert [boundary_index(times, moment) for moment in (4, 5, 8, 9, 20, 21)] == [0, 1, 1, 2, 3, 3]


def test_many_documents() -> None:
    generator = np.random.default_rng(7)
    count = 100_000
    knowledge = generator.integers(0, count // 2, count)
    revised_at = generator.integers(-50, 50, count)
    whole = np.ones(count, dtype=np.bool_)
    never = np.full(count, NEVER_EXPIRES)
    result = in_force_mask(knowledge, revised_at, whole, never, whole, 0)
    best: dict[int, int] = {}
    for group, time in zip(knowledge.tolist(), revised_at.tolist(), strict=True):
        if time <= 0:
            best[group] = max(time, best.get(group, time))
    expected = [
        time <= 0 and best[group] == time for group, time in zip(knowledge.tolist(), revised_at.tolist(), strict=True)
    ]
    assert result.tolist() == expected
