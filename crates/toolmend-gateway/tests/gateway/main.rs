//! The gateway between a scripted server and a plain client.

mod chat;
mod history;
mod leaks;
mod messages;
mod others;
mod policy;
mod responses;
mod rig;
