//! A body with something that lasts as long as it does.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::Body;

/// A body that keeps a value until it is sent or its client leaves.
struct GuardedBody<G> {
    inner: Body,
    _guard: G,
}

/// Returns the body with a value that is dropped when the body is.
pub(crate) fn guard_body<G: Send + Unpin + 'static>(body: Body, guard: G) -> Body {
    Body::new(GuardedBody { inner: body, _guard: guard })
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
