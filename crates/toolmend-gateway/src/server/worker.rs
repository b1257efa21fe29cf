//! Threads that connections live on.
//!
//! Each has a runtime of its own, and a connection stays where it is from the first byte to the last, together with
//! the connections to servers that it uses. Nothing of a request ever waits for another thread to wake up, which
//! would cost more than all the rest of a small request.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The number of the thread that asks; 0 outside of workers.
pub(crate) fn number() -> usize {
    NUMBER.get()
}

/// How many threads there are where the configuration says nothing.
pub(crate) fn usual_number() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The threads. What still runs on them ends when they are dropped.
#[derive(Debug)]
pub(crate) struct Workers {
    all: Vec<Worker>,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// One more than there are connections.
    connections: Arc<()>,
    /// The thread ends when this is dropped.
    _stop: oneshot::Sender<()>,
}

impl Workers {
    pub(crate) fn start(count: usize) -> io::Result<Workers> {
        Ok(Workers { all: (0..count.max(1)).map(Worker::start).collect::<io::Result<_>>()? })
    }

    /// Runs a connection on the thread that has the fewest.
    pub(crate) fn run(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let Some(worker) = self.all.iter().min_by_key(|worker| Arc::strong_count(&worker.connections)) else {
            return;
        };
        let counted = Arc::clone(&worker.connections);
        worker.runtime.spawn(async move {
            connection.await;
            drop(counted);
        });
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Worker> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new().name(format!("toolmend-{number}")).spawn(move || {
            NUMBER.set(number);
            // An error says that the sender is gone, which is what is waited for.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Worker { runtime: handle, connections: Arc::default(), _stop: stop })
    }
}
