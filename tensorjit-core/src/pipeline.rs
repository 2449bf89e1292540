//! The compiler on one page: named stages, each verified, dumped on request, and timed.
