"""Text as the stages need it: folded, in tokens, in sentences and lines."""

from core.folding import fold, fold_keeping_case, fold_with_offsets, glossary_key, source_span
from core.sentences import lines_of, sentences
from core.tokens import UNSPACED, query_tokens, term_hash, token_spans, tokenizer_fingerprint, tokens

__all__ = [
    "UNSPACED",
    "fold",
    "fold_keeping_case",
    "fold_with_offsets",
    "glossary_key",
    "lines_of",
    "query_tokens",
    "sentences",
    "source_span",
    "term_hash",
    "token_spans",
    "tokenizer_fingerprint",
    "tokens",
]
