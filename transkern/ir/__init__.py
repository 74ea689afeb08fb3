"""The two grammars every stage speaks (array statements, kernels), the op table, and their tools."""
