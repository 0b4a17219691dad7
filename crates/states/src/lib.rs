//! Amazon States Language and the expressions it is written in. So far it holds the expressions.
