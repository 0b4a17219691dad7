//! State machines on a real store: what they promise to those who run them.

mod crash;
mod machine_rig;
mod running;
mod waiting;
