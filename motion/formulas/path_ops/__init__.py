"""Path operators: the chain that rewrites a shape's outline before it is painted (layers.md 8)."""

from motion.formulas.path_ops.chain import ChainResult, apply
from motion.formulas.path_ops.stored import PathOperator, animate, path_operators

__all__ = ["ChainResult", "PathOperator", "animate", "apply", "path_operators"]
