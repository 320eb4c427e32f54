"""YAML as people mean it: scalars stay the text they are, and what could be misread is an error."""

from __future__ import annotations

from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """No numbers, dates or booleans are guessed: `1.10` stays `1.10`, `no` stays `no`. Null alone is recognised."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the base class declares it so
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not read", problem_mark=self.get_mark())
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key is no plain word", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} stands twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(text: str) -> Any:
    """Nested dicts and lists of strings and None. Raises ValueError, saying what and in which line.

    Refused beside malformed YAML: a key that stands twice, aliases, tags beyond YAML's own.
    """
    try:
        return yaml.load(text, _Loader)  # a safe loader
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ValueError(f"{error.problem or error.context or 'malformed'}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except (AttributeError, TypeError, KeyError) as error:  # an explicit tag on a value that it does not fit
        raise ValueError(f"a value does not fit its tag ({error})") from None
