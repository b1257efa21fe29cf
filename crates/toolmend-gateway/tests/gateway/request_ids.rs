//! The ids of requests.

use crate::fixture::{Answer, Fixture};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn a_client_and_a_server_see_the_same_id() {
    let server_id = Answer::text("{}").header("x-request-id", "of-the-server");
    let other_id = Answer::text("{}").header("x-request-id", "of-the-server");
    let fixture = Fixture::new([Answer::text("{}"), Answer::text("{}"), server_id, other_id]).await;
    let id = |reply: &crate::fixture::Reply| reply.headers["x-request-id"].to_str().unwrap().to_owned();
    let received = |at: usize| fixture.received()[at].headers["x-request-id"].to_str().unwrap().to_owned();
    let reply = fixture.post(PATH, &[("x-request-id", "mine")], "{}").await;
    assert_eq!((id(&reply), received(0)), ("mine".into(), "mine".into()));
    let reply = fixture.post("/v1/embeddings", &[], "{}").await;
    assert_eq!((id(&reply), id(&reply).len()), (received(1), 16));
    // Vendors ask for their own id, so it stays unless the client chose one.
    let reply = fixture.post(PATH, &[], "{}").await;
    assert_eq!(id(&reply), "of-the-server");
    let reply = fixture.post(PATH, &[("x-request-id", "mine")], "{}").await;
    assert_eq!(id(&reply), "mine");
    // Every answer has one, also those of the gateway itself.
    let reply = fixture.post(PATH, &[("host", "evil.example")], "{}").await;
    assert_eq!((reply.status.as_u16(), id(&reply).len()), (403, 16));
}
