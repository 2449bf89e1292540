//! Entry of the procedural macro.
