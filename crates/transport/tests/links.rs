//! Links as the services use them: TLS and plain, limits, and a stop that loses no answer.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use shuffledp_transport::{
    ClientConfig, HttpClient, ListenConfig, Serving, Shutdown, ShutdownTrigger, TlsFiles, TransportError,
    bytes_at_most, join, serve, with_timeout,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

/// A root and a certificate of it for `name`, as PEM files. Returns the root's path.
fn certificates(folder: &Path, name: &str) -> (PathBuf, TlsFiles) {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &root).unwrap();
    let files = TlsFiles { certificate: folder.join("leaf.pem"), key: folder.join("leaf.key") };
    std::fs::write(folder.join("root.pem"), root.pem()).unwrap();
    std::fs::write(&files.certificate, leaf.pem()).unwrap();
    std::fs::write(&files.key, key.serialize_pem()).unwrap();
    (folder.join("root.pem"), files)
}

fn echo() -> Router {
    Router::new().route("/echo", post(|body: Bytes| async move { body }))
}

async fn serving(config: &ListenConfig, router: Router) -> (Serving, ShutdownTrigger) {
    let (trigger, shutdown) = Shutdown::new();
    (serve(config, router, shutdown).await.unwrap(), trigger)
}

fn client(roots: &[PathBuf]) -> HttpClient {
    HttpClient::new(&ClientConfig { roots: roots.to_vec(), ..ClientConfig::default() }).unwrap()
}

#[tokio::test]
async fn tls_with_a_given_root() {
    let folder = TempDir::new().unwrap();
    let (root, tls) = certificates(folder.path(), "127.0.0.1");
    let config = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let (server, trigger) = serving(&config, echo()).await;
    assert!(server.url().starts_with("https://"));
    let url = join(&server.url(), "/echo");
    let answer = client(&[root]).post(&url).unwrap().body("hello").send().await.unwrap();
    assert_eq!(bytes_at_most(answer, 5).await.unwrap(), b"hello");

    // Another root, or the machine's own, must not do.
    let other = TempDir::new().unwrap();
    let (other_root, _) = certificates(other.path(), "127.0.0.1");
    assert!(client(&[other_root]).post(&url).unwrap().send().await.is_err());
    assert!(client(&[]).post(&url).unwrap().send().await.is_err());
    // Nor plain HTTP to a port that speaks TLS.
    assert!(client(&[]).post(&url.replace("https", "http")).unwrap().send().await.is_err());
    trigger.stop();
    server.ended().await.unwrap();
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let folder = TempDir::new().unwrap();
    let (root, tls) = certificates(folder.path(), "shuffler.example");
    let config = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    assert!(client(&[root]).post(&join(&server.url(), "/echo")).unwrap().send().await.is_err());
}

#[tokio::test]
async fn bad_files_are_named_and_not_shown() {
    let folder = TempDir::new().unwrap();
    let (root, mut tls) = certificates(folder.path(), "127.0.0.1");
    std::fs::write(&tls.key, "-----BEGIN PRIVATE KEY-----\nsecretsecret\n-----END PRIVATE KEY-----\n").unwrap();
    let (_, shutdown) = Shutdown::new();
    let config = ListenConfig { tls: Some(tls.clone()), ..ListenConfig::loopback() };
    let refused = serve(&config, echo(), shutdown.clone()).await.unwrap_err().to_string();
    assert!(!refused.contains("secretsecret"), "{refused}");

    tls.key = folder.path().join("nowhere.key");
    let config = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let refused = serve(&config, echo(), shutdown).await.unwrap_err().to_string();
    assert!(refused.contains("nowhere.key"), "{refused}");

    std::fs::write(&root, "").unwrap();
    let refused =
        HttpClient::new(&ClientConfig { roots: vec![root], ..ClientConfig::default() }).unwrap_err().to_string();
    assert!(refused.contains("root.pem") && refused.contains("no certificate"), "{refused}");
}

#[tokio::test]
async fn a_request_under_way_is_answered_and_then_it_ends() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let router = Router::new().route(
        "/slow",
        get({
            let (arrived, go_on) = (Arc::clone(&arrived), Arc::clone(&go_on));
            move || async move {
                arrived.notify_one();
                go_on.notified().await;
                "answered"
            }
        }),
    );
    let (server, trigger) = serving(&ListenConfig::loopback(), router).await;
    let (url, client) = (join(&server.url(), "/slow"), client(&[]));
    let request = client.get(&url).unwrap();
    let asked = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    arrived.notified().await;
    trigger.stop();
    let address = server.address();
    let ended = tokio::spawn(server.ended());
    // Refused from now on: the listener goes away, which needs a turn of the loop.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go_on.notify_one();
    assert_eq!(asked.await.unwrap(), "answered");
    ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn one_connection_too_many_is_closed_and_its_place_comes_back() {
    let config = ListenConfig { connections: 1, ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    let ask = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";
    let mut first = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    first.write_all(ask).await.unwrap();
    let mut head = [0; 12];
    first.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let mut second = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    // Closed without a byte, be it by FIN or by RST.
    assert!(!matches!(second.read(&mut head).await, Ok(1..)));
    drop(first);
    loop {
        let mut third = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        if third.write_all(ask).await.is_ok() && third.read_exact(&mut head).await.is_ok() {
            break assert_eq!(&head, b"HTTP/1.1 200");
        }
    }
}

#[tokio::test]
async fn slow_and_endless_are_cut_off() {
    let router = Router::new()
        .route("/never", get(std::future::pending::<()>))
        .route("/long", get(|| async { Body::from(vec![0; 100_000]) }));
    let (server, _trigger) = serving(&ListenConfig::loopback(), with_timeout(router, Duration::from_millis(10))).await;
    let client = client(&[]);
    let answer = client.get(&join(&server.url(), "/never")).unwrap().send().await.unwrap();
    assert_eq!(answer.status(), 408);
    let answer = client.get(&join(&server.url(), "/long")).unwrap().send().await.unwrap();
    assert!(matches!(bytes_at_most(answer, 99_999).await, Err(TransportError::TooLong { limit: 99_999 })));
    let answer = client.get(&join(&server.url(), "/long")).unwrap().send().await.unwrap();
    assert_eq!(bytes_at_most(answer, 100_000).await.unwrap().len(), 100_000);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let router = Router::new().route("/away", get(|| async { axum::response::Redirect::temporary("/never") }));
    let (server, _trigger) = serving(&ListenConfig::loopback(), router).await;
    let answer = client(&[]).get(&join(&server.url(), "/away")).unwrap().send().await.unwrap();
    assert_eq!(answer.status(), 307);
}
