//! From the graph to loops: what is fused, what stands in memory, how loops are tiled and vectorised.
