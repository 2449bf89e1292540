//! Operators of ONNX.
