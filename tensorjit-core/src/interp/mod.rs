//! The oracle: a deliberately plain interpreter of graphs in f64.
