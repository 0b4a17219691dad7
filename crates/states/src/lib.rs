//! Amazon States Language, and the expressions it is written in. No clock, no I/O, no chance: what a state machine does
//! next is a function of what is given.
//!
//! | module | what it owns |
//! |---|---|
//! | [`asl`] | state machines: read and checked, stepped event by event, compared with recorded runs |
//! | [`jsonata`] | expressions over JSON: parsed once, evaluated anywhere, within limits |

pub mod asl;
pub mod jsonata;
