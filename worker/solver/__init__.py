"""The numeric core: the graph, propagation and the two selection problems of the paper.

Symbols are the paper's. Shapes: P phrases, N documents, K pairs solved side by side. A matrix
with 2K columns holds the side *a* of every pair first (columns 0 .. K-1), then the side *b*
(columns K .. 2K-1). Imports numpy and scipy only.
"""
