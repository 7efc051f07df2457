//! Troubles of machines and operators: a disk that is full, a clock that is set, a configuration
//! that names somebody else, connections that never end, a report that somebody repeats.

use super::http::Request;
use super::world::World;
use shuffledp_wire::{SigningKey, paths};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Connections that a slow sender holds at each service.
const SLOW: usize = 24;
/// How often one report is sent again in a flood.
const FLOOD: usize = 40;

/// A small file system of its own for the server's store. Needs root, and a system that lets root
/// mount.
pub(crate) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Mounts one at a folder that is empty; nothing if the system does not allow it.
    pub(crate) fn mount(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=24m,mode=700", "shuffledp-chaos"]).arg(folder);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Self { folder: folder.to_owned() })
    }

    /// Its content is lost.
    pub(crate) fn unmount(&self) {
        // The second time there is nothing to unmount.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).output();
    }

    /// Not a byte is left for a while.
    fn fill(&self, time: Duration) {
        let ballast = self.folder.join("ballast");
        if let Ok(mut file) = std::fs::File::create(&ballast) {
            for size in [1 << 16, 1 << 12, 1] {
                let piece = vec![0; size];
                while file.write_all(&piece).is_ok() {}
            }
        }
        std::thread::sleep(time);
        // There is always room to remove something.
        std::fs::remove_file(&ballast).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// The library that shows a program another time, if it is installed (Debian:
/// `apt-get install faketime`).
pub(crate) fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|folder| folder.path().join("faketime"));
    folders.map(|folder| folder.join("libfaketime.so.1")).find(|library| library.exists())
}

/// The store's disk is full for a while. Nobody starts the server meanwhile: like any database it
/// refuses to.
pub(crate) fn full_disk(world: &Arc<World>) {
    let Some(disk) = &world.disk else { return };
    world.figures.one("disks_filled");
    world.while_nobody_starts(|| disk.fill(Duration::from_millis(400)));
}

/// The server's clock is set far ahead or back, and then right again.
pub(crate) fn clock_jump(world: &Arc<World>, ahead: bool) {
    let Some(file) = &world.server_time else { return };
    world.figures.one("clock_jumps");
    let set = |offset: &str| {
        let beside = file.with_extension("new");
        std::fs::write(&beside, offset).unwrap();
        std::fs::rename(&beside, file).unwrap();
    };
    // A server that starts at a wrong time cannot know it, if the store has nothing that says so.
    world.while_nobody_starts(|| {
        set(if ahead { "+3650d" } else { "-3650d" });
        std::thread::sleep(Duration::from_millis(500));
        set("+0");
    });
}

/// The shuffler is started with the key of another server, which it must not believe, and then with
/// the right one.
pub(crate) fn wrong_peer(world: &Arc<World>) {
    world.figures.one("wrong_peers");
    let stranger = SigningKey::generate().unwrap().verifying_key().to_string();
    let path = world.shuffler.config();
    let right = std::fs::read_to_string(path).unwrap();
    world.while_nobody_starts(|| {
        world.shuffler.kill();
        std::fs::write(path, right.replace(&world.server_key.to_string(), &stranger)).unwrap();
        let started = world.shuffler.start();
        std::thread::sleep(Duration::from_millis(300));
        world.shuffler.kill();
        std::fs::write(path, &right).unwrap();
        if let Err(problem) = started {
            world.violation(&problem);
        }
    });
    world.start();
}

/// Connections to both services that send a few bytes and then nothing, and that never read.
pub(crate) fn slow_senders(world: &Arc<World>) {
    world.figures.one("slow_senders");
    let addresses = [world.shuffler.address(), world.server.address()];
    let mut held = Vec::new();
    for address in addresses.into_iter().flatten() {
        for number in 0..SLOW {
            let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) else { continue };
            let begun: &[u8] = match number % 3 {
                0 => b"POST /v1/reports HTTP/1.1\r\ncontent-le",
                1 => b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: 200\r\n\r\nhalf",
                _ => b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n",
            };
            // It may be killed at any time.
            if stream.write_all(begun).is_ok() {
                held.push(stream);
            }
        }
    }
    std::thread::sleep(Duration::from_millis(700));
    drop(held);
}

/// One report of the open round, sent again and again by somebody who has seen it.
pub(crate) fn flood(world: &Arc<World>, round: u64) {
    let kept = world.kept.lock().unwrap().reports.iter().rev().find(|kept| kept.0 == round).cloned();
    let Some((_, bytes)) = kept else { return };
    world.figures.one("floods");
    for _ in 0..FLOOD {
        // The answer does not matter: what counts is that the report counts once.
        if world.shuffler.ask(|shuffler| Request::new("POST", paths::REPORTS, &bytes).ask(shuffler, None)).is_none() {
            return;
        }
    }
}
