//! Amazon States Language and the expressions it is written in. So far it holds the expressions.
//!
//! | module | what it owns |
//! |---|---|
//! | [`jsonata`] | expressions over JSON: parsed once, evaluated anywhere, within limits |

pub mod jsonata;
