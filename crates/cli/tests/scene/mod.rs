//! A folder with a server, a shuffler and a client on free ports, and the processes that run in it.

use super::common::{Run, finish, program, run_in};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use shuffledp_transport::{ClientConfig, HttpClient, bytes_at_most, join};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time limit for every wait: far above the usual time, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(120);

/// A root certificate at `folder/root`, and one of it for each of these services, with its key.
pub(super) fn certificates(folder: &Path, root: &str, services: &[&str]) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    fs::write(folder.join(root), authority.pem()).unwrap();
    for service in services {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        fs::write(folder.join(format!("{service}/{service}.pem")), leaf.pem()).unwrap();
        let path = folder.join(format!("{service}/{service}.key"));
        fs::write(&path, key.serialize_pem()).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
}

pub(super) struct Scene {
    folder: TempDir,
    server: String,
    running: Vec<Child>,
}

impl Scene {
    /// Keys and configurations of all three, with TLS. [`Self::pin`] is still to be called, once
    /// the task is as it is to be.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = |service: &str| run_in(folder.path(), &[service, "init", service]).stdout.trim().to_owned();
        let (server_key, shuffler_key) = (key("server"), key("shuffler"));
        assert!(run_in(folder.path(), &["client", "init", "client"]).stdout.contains("client.toml"));
        certificates(folder.path(), "ca.pem", &["server", "shuffler"]);
        let [server, shuffler] = free_ports();
        let scene = Self { folder, server: format!("https://127.0.0.1:{server}"), running: Vec::new() };
        let (server, shuffler) = (format!("127.0.0.1:{server}"), format!("127.0.0.1:{shuffler}"));
        let addresses = [("127.0.0.1:8440", &server[..]), ("127.0.0.1:8441", &shuffler[..]), ("http://", "https://")];
        let admin = ("127.0.0.1:8451", "127.0.0.1:0");
        let roots = ("# roots = [\"ca.pem\"]", "roots = [\"../ca.pem\"]");
        let tls = ("# tls = {", "tls = {");
        scene
            .change("server", &[&addresses[..], &[("PASTE-THE-SHUFFLERS-VERIFYING-KEY", &shuffler_key), tls]].concat());
        let named = [("PASTE-THE-SERVERS-VERIFYING-KEY", &server_key[..]), tls, roots, admin];
        scene.change("shuffler", &[&addresses[..], &named[..]].concat());
        scene.change("client", &[&[addresses[0], addresses[2]][..], &[roots]].concat());
        scene
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces parts of a service's configuration; each of them must be there.
    pub(super) fn change(&self, service: &str, changes: &[(&str, &str)]) {
        let path = self.folder().join(format!("{service}/{service}.toml"));
        let mut text = fs::read_to_string(&path).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{service}.toml has no {from}");
            text = text.replace(from, to);
        }
        fs::write(path, text).unwrap();
    }

    /// Tells the client what the server shows.
    pub(super) fn pin(&self) {
        let shown = run_in(self.folder(), &["server", "show", "--config", "server/server.toml", "--json"]).json();
        let (key, task) = (shown["verifying_key"].as_str().unwrap(), shown["task"].as_str().unwrap());
        self.change("client", &[("PASTE-THE-SERVERS-VERIFYING-KEY", key), ("PASTE-THE-TASKS-HASH", task)]);
    }

    /// Starts a command line; what it says goes to a file of this name. Returns its process id.
    pub(super) fn start(&mut self, name: &str, line: &str) -> u32 {
        let log = File::create(self.folder().join(format!("{name}.log"))).unwrap();
        let out = File::create(self.folder().join(format!("{name}.out"))).unwrap();
        let mut command = program();
        command.current_dir(self.folder()).args(line.split(' ')).stdout(out).stderr(log);
        let child = command.spawn().unwrap();
        let id = child.id();
        fs::write(self.folder().join(format!("{id}.name")), name).unwrap();
        self.running.push(child);
        id
    }

    /// Returns the log of a program so far.
    pub(super) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(format!("{name}.log"))).unwrap_or_default()
    }

    /// Waits until a program ends by itself.
    pub(super) fn ended(&mut self, id: u32) -> Run {
        let place = self.running.iter().position(|child| child.id() == id).unwrap();
        let Run { code, .. } = finish(self.running.remove(place));
        let name = fs::read_to_string(self.folder().join(format!("{id}.name"))).unwrap();
        let stdout = fs::read_to_string(self.folder().join(format!("{name}.out"))).unwrap();
        Run { code, stdout, stderr: self.log(&name) }
    }

    /// Tells a program to stop, and waits for it.
    pub(super) fn stop(&mut self, id: u32) -> Run {
        assert!(Command::new("kill").args(["-TERM", &id.to_string()]).status().unwrap().success());
        self.ended(id)
    }

    /// Asks until there is an answer.
    pub(super) fn wait<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(started.elapsed() < LIMIT, "{what} did not come; the server: {}", self.log("server"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the server's answer at this path, if it answers; over TLS, trusting only the scene's
    /// own root.
    pub(super) fn get(&self, path: &str) -> Option<serde_json::Value> {
        let roots = vec![self.folder().join("ca.pem")];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bytes = runtime.block_on(async {
            let client = HttpClient::new(&ClientConfig { roots, ..ClientConfig::default() }).unwrap();
            let answer = client.get(&join(&self.server, path)).unwrap().send().await.ok()?;
            bytes_at_most(answer, 1 << 20).await.ok()
        })?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The server's status, once it is as wanted.
    pub(super) fn status(&self, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        self.wait("the status", || self.get("/v1/status").filter(|status| wanted(status)))
    }
}

impl Drop for Scene {
    /// A test that fails leaves no process behind.
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ports that were free a moment ago: task and shuffler name each other's address, so one must be
/// known beforehand.
fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
