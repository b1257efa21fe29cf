//! The bytes of a connection, watched: when they arrive, and how long a client reads nothing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::connections::Activity;
use crate::observe::{Limit, Observer};

/// A connection whose client must read what it is sent.
pub(super) struct WatchedIo<T> {
    inner: T,
    activity: Arc<Activity>,
    observer: Arc<Observer>,
    max_stall: Duration,
    /// Runs while the client reads nothing.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<T> WatchedIo<T> {
    pub(super) fn new(
        inner: T,
        activity: Arc<Activity>,
        observer: Arc<Observer>,
        max_stall: Duration,
    ) -> Self {
        WatchedIo { inner, activity, observer, max_stall, stall: None }
    }

    /// Fails a write that has waited for too long.
    fn watch_stall<R>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if result.is_ready() {
            self.stall = None;
            return result;
        }
        let max_stall = self.max_stall;
        let stall = self.stall.get_or_insert_with(|| Box::pin(tokio::time::sleep(max_stall)));
        if stall.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.observer.metrics.count_limit(Limit::WriteTime);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WatchedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = buffer.filled().len().saturating_sub(before);
        if read > 0 {
            self.activity.record_read(read);
        }
        result
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WatchedIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch_stall(context, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.watch_stall(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_flush(context);
        self.watch_stall(context, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
