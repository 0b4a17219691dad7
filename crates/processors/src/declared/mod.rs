//! Declared processors.
