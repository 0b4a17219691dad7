//! Outside processors.
