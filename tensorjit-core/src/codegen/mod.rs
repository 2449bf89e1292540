//! From loops to machine code through LLVM.
