"""The retrieval core. Reading order is execution order:

access → scope → snapshot → candidates → recall_exact, recall_bm25, recall_dense → fuse → diversify → prior →
merge → evidence, all called from `pipeline.search`; `workbench.Workbench` opens a home and wires the parts.
"""
