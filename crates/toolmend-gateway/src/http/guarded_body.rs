//! A body with something that lasts as long as it does, and may look at what is sent.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::Body;

/// Something that sees a body pass by. It is dropped when the body is sent or its receiver leaves.
pub(crate) trait BodyWatcher: Send + Unpin + 'static {
    /// Looks at the next bytes.
    fn see_data(&mut self, data: &Bytes);

    /// Learns that the body is complete.
    fn see_end(&mut self) {}
}

/// A value that only has to last.
struct Unseeing<G>(G);

impl<G: Send + Unpin + 'static> BodyWatcher for Unseeing<G> {
    fn see_data(&mut self, _data: &Bytes) {}
}

/// A body that keeps a value until it is sent or its receiver leaves.
struct WatchedBody<W> {
    inner: Body,
    watcher: W,
}

/// Returns the body with a value that is dropped when the body is.
pub(crate) fn guard_body<G: Send + Unpin + 'static>(body: Body, guard: G) -> Body {
    watch_body(body, Unseeing(guard))
}

/// Returns the body with something that sees it pass by.
pub(crate) fn watch_body(body: Body, mut watcher: impl BodyWatcher) -> Body {
    if body.is_end_stream() {
        watcher.see_end();
    }
    Body::new(WatchedBody { inner: body, watcher })
}

/// Returns the body, which fails if `sender` sends nothing of it for this long.
pub(crate) fn end_if_silent(body: Body, silence: Duration, sender: &'static str) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::new(ImpatientBody { inner: body, silence, sender, sleep: None })
}

/// A body that is not waited for without end.
struct ImpatientBody {
    inner: Body,
    silence: Duration,
    sender: &'static str,
    /// Runs while nothing arrives.
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl HttpBody for ImpatientBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        if polled.is_ready() {
            self.sleep = None;
            return polled;
        }
        let silence = self.silence;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(silence)));
        match sleep.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let message = format!("the {} sent nothing for {} seconds", self.sender, silence.as_secs());
                Poll::Ready(Some(Err(axum::Error::new(std::io::Error::other(message)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<W: BodyWatcher> HttpBody for WatchedBody<W> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.watcher.see_data(data);
                }
                // A body of known length is not asked again after its last bytes.
                if self.inner.is_end_stream() {
                    self.watcher.see_end();
                }
            }
            Poll::Ready(None) => self.watcher.see_end(),
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
