//! The gateway between a scripted server and a plain client.

mod chat;
mod demo;
mod faults;
mod history;
mod leaks;
mod messages;
mod others;
mod policy;
mod proxy;
mod responses;
mod rig;
