//! The threads that serve connections.
//!
//! Each thread has its own runtime, and a connection stays on its thread from the first byte to the last, together with
//! the connections to servers that it uses. A request never waits for another thread to wake up, which would cost more
//! than the rest of a small request.
//!
//! One more thread looks at new connections. It answers what operators ask, so that whatever keeps the others busy never makes a
//! healthy gateway look dead.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::http::client::use_pool;

/// The worker threads. When they are dropped, everything that still runs on them ends.
#[derive(Debug)]
pub(crate) struct Workers {
    workers: Vec<Worker>,
    front: Worker,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// Each connection holds a clone, so that the count says how many there are.
    connections: Arc<()>,
    /// The thread ends when this is dropped.
    _stop: oneshot::Sender<()>,
}

impl Workers {
    /// Starts this many threads, at least one.
    pub(crate) fn start(count: usize) -> io::Result<Workers> {
        let start = |number: usize| Worker::start(&format!("toolmend-{number}"), number);
        let workers = (0..count.max(1)).map(start).collect::<io::Result<_>>()?;
        Ok(Workers { workers, front: Worker::start("toolmend-front", 0)? })
    }

    /// Runs the first look at a connection.
    pub(crate) fn run_in_front(&self, look: impl Future<Output = ()> + Send + 'static) {
        self.front.runtime.spawn(look);
    }

    /// Runs a connection on the thread with the fewest connections.
    pub(crate) fn run_connection(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let Some(worker) = self.workers.iter().min_by_key(|worker| Arc::strong_count(&worker.connections))
        else {
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
    fn start(name: &str, pool: usize) -> io::Result<Worker> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            use_pool(pool);
            // This waits until the sender is dropped, which is an error of the channel.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Worker { runtime: handle, connections: Arc::default(), _stop: stop })
    }
}
