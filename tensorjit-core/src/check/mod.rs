//! Names, types and shapes: from the syntax tree to the typed graph.
