//! Rewrites of the graph that change no bit of any result.
