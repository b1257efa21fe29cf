//! The gateway between a scripted server and a plain client.

mod chat;
mod leaks;
mod messages;
mod others;
mod responses;
mod rig;
