//! Links as the services use them: TLS and plain, limits, and a stop that loses no answer.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use shuffledp_transport::{
    ClientConfig, HttpClient, ListenConfig, MetricsPage, Operated, Readiness, Serving, Shutdown, ShutdownTrigger,
    TlsFiles, TransportError, admin_router, bytes_at_most, join, serve, serve_admin, with_timeout,
};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
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
    secret(&files.key, &key.serialize_pem());
    (folder.join("root.pem"), files)
}

/// A file that only its owner reads.
fn secret(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
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
    secret(&tls.key, "-----BEGIN PRIVATE KEY-----\nsecretsecret\n-----END PRIVATE KEY-----\n");
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
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go_on.notify_one();
    assert_eq!(asked.await.unwrap(), "answered");
    ended.await.unwrap().unwrap();
}

const ASK: &[u8] = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";

/// A connection that has made a request; and the beginning of its answer, all of it if it is short.
async fn asked(address: SocketAddr) -> std::io::Result<(TcpStream, String)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(ASK).await?;
    let mut head = vec![0; 512];
    let read = stream.read(&mut head).await?;
    head.truncate(read);
    Ok((stream, String::from_utf8(head).unwrap()))
}

/// Until a connection is served again.
async fn served(address: SocketAddr) {
    let again = async {
        while !asked(address).await.is_ok_and(|(_, answer)| answer.starts_with("HTTP/1.1 200")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("the place has to come back");
}

#[tokio::test]
async fn connections_beyond_the_limit_are_told_to_come_again_and_then_closed() {
    let config = ListenConfig { connections: 1, ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    let (first, answer) = asked(server.address()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // One more is told so, and ends.
    let (mut second, answer) = asked(server.address()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 1\r\n"), "{answer}");
    let mut rest = Vec::new();
    assert!(!matches!(second.read_to_end(&mut rest).await, Ok(1..)), "nothing but the answer");
    drop((first, second));
    served(server.address()).await;
    let mut page = MetricsPage::new("x");
    server.link().metrics(&mut page);
    assert!(page.finish().contains("x_requests_shed_total 1\n"));
}

#[tokio::test]
async fn far_beyond_the_limit_nothing_is_said() {
    let config = ListenConfig { connections: 1, ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    let _first = asked(server.address()).await.unwrap();
    // It says nothing, and so keeps the place of those who are told to come again.
    let _silent = TcpStream::connect(server.address()).await.unwrap();
    let mut head = [0; 12];
    let closed = async {
        loop {
            let mut third = TcpStream::connect(server.address()).await.unwrap();
            // Closed without a byte, be it by FIN or by RST.
            match tokio::time::timeout(Duration::from_millis(100), third.read(&mut head)).await {
                Ok(read) => break assert!(!matches!(read, Ok(1..))),
                // The silent one had not been accepted yet.
                Err(_) => drop(third),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), closed).await.unwrap();
}

/// Without a limit of time for writing, each such connection keeps its place for ever.
#[tokio::test]
async fn a_client_that_does_not_read_loses_its_place() {
    let config = ListenConfig { connections: 1, write_seconds: 1, ..ListenConfig::loopback() };
    let router = Router::new().route("/echo", post(|_: Bytes| async { Body::from(vec![7; 1 << 20]) }));
    let (server, _trigger) = serving(&config, router).await;
    let mut deaf = TcpStream::connect(server.address()).await.unwrap();
    // As many requests as the other side takes: their answers fill every buffer on the way.
    let pipelined = async {
        loop {
            deaf.write_all(ASK).await.unwrap_or(());
        }
    };
    assert!(tokio::time::timeout(Duration::from_millis(300), pipelined).await.is_err());
    served(server.address()).await;
    let mut page = MetricsPage::new("x");
    server.link().metrics(&mut page);
    assert!(page.finish().contains("x_write_timeouts_total 1\n"));
}

#[tokio::test]
async fn one_request_of_a_connection_is_under_way_at_a_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let router = Router::new().route(
        "/echo",
        post({
            let most = Arc::clone(&most);
            move |_: Bytes| async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                "answered"
            }
        }),
    );
    let (server, _trigger) = serving(&ListenConfig::loopback(), router).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(&ASK.repeat(50)).await.unwrap();
    let (mut text, mut part) = (String::new(), vec![0; 4096]);
    while text.matches("answered").count() < 50 {
        let read = stream.read(&mut part).await.unwrap();
        assert!(read > 0);
        text += std::str::from_utf8(&part[..read]).unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_address_has_its_own_limits_which_can_change() {
    let config = ListenConfig { address_requests_per_minute: Some(2), ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    let answer = async || asked(server.address()).await.map_or(String::new(), |(_, answer)| answer);
    assert!(answer().await.starts_with("HTTP/1.1 200"));
    assert!(answer().await.starts_with("HTTP/1.1 200"));
    let refused = answer().await;
    assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("retry-after: "), "{refused}");
    let none = ListenConfig { address_requests_per_minute: None, ..config.clone() };
    server.link().reload(&none).unwrap();
    assert!(answer().await.starts_with("HTTP/1.1 200"));
    let one = ListenConfig { address_connections: Some(1), ..none };
    server.link().reload(&one).unwrap();
    let (_first, answered) = asked(server.address()).await.unwrap();
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    assert!(!answer().await.starts_with("HTTP"), "a second one of this address");
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_up() {
    let folder = TempDir::new().unwrap();
    let (old_root, tls) = certificates(folder.path(), "127.0.0.1");
    let config = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let (server, _trigger) = serving(&config, echo()).await;
    let url = join(&server.url(), "/echo");
    let old = client(&[old_root]);
    assert!(old.post(&url).unwrap().body("x").send().await.is_ok());
    // Another root: who believes only that one gets in from now on.
    let (root, tls) = certificates(folder.path(), "127.0.0.1");
    let fresh = client(&[root]);
    assert!(fresh.post(&url).unwrap().body("x").send().await.is_err());
    // What cannot be used changes nothing.
    std::fs::write(&tls.certificate, "").unwrap();
    assert!(server.link().reload(&config).is_err());
    assert!(old.post(&url).unwrap().body("x").send().await.is_ok());
    let (root, _) = certificates(folder.path(), "127.0.0.1");
    server.link().reload(&config).unwrap();
    assert!(client(&[root]).post(&url).unwrap().body("x").send().await.is_ok());
    // TLS does not end while clients rely on it.
    let refused = server.link().reload(&ListenConfig { tls: None, ..config }).unwrap_err().to_string();
    assert!(refused.contains("`tls`") && refused.contains("restart"), "{refused}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_tls_key_that_others_can_read_is_refused() {
    let folder = TempDir::new().unwrap();
    let (_, tls) = certificates(folder.path(), "127.0.0.1");
    std::fs::set_permissions(&tls.key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let (_, shutdown) = Shutdown::new();
    let config = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let refused = serve(&config, echo(), shutdown).await.unwrap_err().to_string();
    assert!(refused.contains("chmod 600") && refused.contains("leaf.key"), "{refused}");
}

/// A service whose readiness a test sets.
struct Patient(AtomicBool);

impl Operated for Patient {
    fn readiness(&self) -> Readiness {
        let mut readiness = Readiness::default();
        if !self.0.load(Ordering::SeqCst) {
            readiness.not_ready("ill", "it is ill: call a \"doctor\"");
        }
        readiness
    }

    fn metrics(&self) -> String {
        let mut page = MetricsPage::new("patient");
        page.gauge("temperature", "Of the patient.", 37.0);
        page.finish()
    }
}

#[tokio::test]
async fn operators_are_answered_when_clients_are_not() {
    let admin = "127.0.0.1:0".parse().unwrap();
    let config = ListenConfig { connections: 1, admin: Some(admin), ..ListenConfig::loopback() };
    let (server, trigger) = serving(&config, echo()).await;
    let patient = Arc::new(Patient(AtomicBool::new(false)));
    let (_, shutdown) = Shutdown::new();
    let admin = serve_admin(&config, admin_router(patient.clone()), shutdown.clone()).await.unwrap().unwrap();
    let _holds_the_only_place = asked(server.address()).await.unwrap();
    let get = async |path: &str| {
        let answer = client(&[]).get(&join(&admin.url(), path)).unwrap().send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get("/healthz").await, (200, "ok\n".to_owned()));
    assert!(get("/metrics").await.1.contains("\npatient_temperature 37\n"));
    let (status, body) = get("/readyz").await;
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let reason = serde_json::json!({ "reason": "ill", "message": "it is ill: call a \"doctor\"" });
    assert_eq!((status, body), (503, serde_json::json!({ "ready": false, "reasons": [reason] })));
    patient.0.store(true, Ordering::SeqCst);
    let (status, body) = get("/readyz").await;
    assert_eq!((status, body.trim()), (200, "{\"ready\":true,\"reasons\":[]}"));
    trigger.stop();
    let none = serve_admin(&ListenConfig::loopback(), admin_router(patient), shutdown).await.unwrap();
    assert!(none.is_none(), "only where an address is given");
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
