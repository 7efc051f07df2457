//! That the shuffler cannot read a report is visible: nothing that could is among its dependencies.

use std::process::Command;

#[test]
fn only_wire_transport_host_and_postgres_are_below() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", "shuffledp-shuffler"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let mut rooms: Vec<&str> =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| name.starts_with("shuffledp")).collect();
    rooms.sort_unstable();
    rooms.dedup();
    assert_eq!(
        rooms,
        ["shuffledp-host", "shuffledp-postgres", "shuffledp-shuffler", "shuffledp-transport", "shuffledp-wire"]
    );
}
