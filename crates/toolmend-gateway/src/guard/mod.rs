//! What keeps the gateway responsive under any load: admission of requests, a bound on the memory that they hold, and threads
//! for work that may take long.
//!
//! Nothing here knows what a tool call is.

mod held_memory;
mod key_budgets;
mod request_gate;
mod work_pool;

pub(crate) use self::held_memory::{HeldMemory, Reservation, StreamHold};
pub(crate) use self::key_budgets::{KeyBudgets, KeyLimits};
pub(crate) use self::request_gate::RequestGate;
pub(crate) use self::work_pool::{Lane, WorkPool};
