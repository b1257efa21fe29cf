//! Servers with TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::serve::Listener;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use toolmend_gateway::{Config, Upstream};

use crate::fixture::Fixture;

/// A listener that accepts connections with TLS.
struct Secured {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else { continue };
            // A client that does not trust the certificate disconnects here.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

#[tokio::test]
async fn a_server_with_tls_is_used_only_if_its_certificate_is_trusted() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    // Both versions of HTTP, so that the gateway chooses the newer one.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new()
        .fallback(async |request: http::Request<axum::body::Body>| format!("{:?}", request.version()));
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move { axum::serve(Secured { listener, acceptor }, router).await });

    let to = |ca_file| Upstream { ca_file, ..Upstream::new(format!("https://localhost:{port}")) };
    let trusting = Fixture::with(Config { upstreams: vec![to(Some(file))], ..Config::default() }, []).await;
    let reply = trusting.get("/v1/models").await;
    assert_eq!((reply.status.as_u16(), reply.text()), (200, "HTTP/2.0"));
    let reply = trusting.post("/v1/chat/completions", &[], "{\"model\":\"m\"}").await;
    assert_eq!(reply.status, 200);
    let wary = Fixture::with(Config { upstreams: vec![to(None)], ..Config::default() }, []).await;
    assert_eq!(wary.get("/v1/models").await.status, 502);
}
