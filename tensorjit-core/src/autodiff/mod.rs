//! Derivatives: linearisation forward, transposition backward, on the graph.
