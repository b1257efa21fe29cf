//! The gateway between a scripted server and a plain client.

mod chat;
mod messages;
mod others;
mod responses;
mod rig;
