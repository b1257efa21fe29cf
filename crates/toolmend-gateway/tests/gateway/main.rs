//! The gateway between a scripted server and a plain client.

mod chat;
mod rig;
