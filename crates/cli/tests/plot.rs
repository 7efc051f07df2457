//! `plot`: the numbers are those of `epsilon` and `delta`, the files are whole, and what cannot be
//! drawn is refused by name.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{Run, run_in, run_line};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const SETTING: &str = "--clients 1e6 --sampled 1000 --local-epsilon 2";

fn run_words(folder: &Path, line: &str) -> Run {
    run_in(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// (x, value) by the bound's id. A line is "1e3,id,name,upper,rigorous,0.5"; a name may hold a
/// comma inside quotes.
fn columns(csv: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut lines = csv.lines();
    assert_eq!(lines.next().unwrap(), "rounds,bound,name,kind,standing,value");
    let mut columns: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in lines {
        let (x, rest) = line.split_once(',').unwrap();
        let (id, rest) = rest.split_once(',').unwrap();
        let mut ends = rest.rsplitn(4, ',');
        let (value, standing, kind) = (ends.next().unwrap(), ends.next().unwrap(), ends.next().unwrap());
        assert!(["upper", "lower"].contains(&kind) && !standing.is_empty(), "{line}");
        columns.entry(id.to_owned()).or_default().insert(x.to_owned(), value.to_owned());
    }
    columns
}

fn number(value: &Value) -> f64 {
    if value == "inf" { f64::INFINITY } else { value.as_f64().unwrap() }
}

#[test]
fn csv_and_json_hold_the_numbers_of_epsilon() {
    let folder = tempdir().unwrap();
    let line = format!("plot {SETTING} --delta 1e-8 --sweep rounds=1..1e5:6 -o a.csv --json");
    let plot = run_words(folder.path(), &line);
    plot.assert_decent(&line);
    let columns = columns(&fs::read_to_string(folder.path().join("a.csv")).unwrap());
    let json = plot.json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| number(&point["x"])).collect::<Vec<_>>(), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
    for point in points {
        let rounds = point["x"].as_u64().unwrap();
        let asked = run_line(&format!("epsilon {SETTING} --delta 1e-8 --rounds {rounds} --all --json")).json();
        assert_eq!((&point["value"], &point["method"]), (&asked["epsilon"], &asked["method"]));
        let bounds = asked["bounds"].as_array().unwrap();
        assert_eq!(point["bounds"].as_array().unwrap().len(), bounds.len());
        for (ours, theirs) in point["bounds"].as_array().unwrap().iter().zip(bounds) {
            assert_eq!((&ours["id"], &ours["value"]), (&theirs["id"], &theirs["epsilon"]));
            assert_eq!(ours.get("order"), theirs.get("order"));
            let cell = &columns[ours["id"].as_str().unwrap()][&rounds.to_string()];
            // serde_json reads a float to within an ulp of what is written.
            let (cell, value) = (cell.parse::<f64>().unwrap(), number(&ours["value"]));
            assert!((cell - value).abs() <= f64::EPSILON * value, "{cell} {ours}");
        }
    }
    // Far-off curves are cut from pictures, never from the numbers.
    assert!(columns.contains_key("local-composition"));
}

#[test]
fn delta_is_that_of_delta() {
    let json = run_line(&format!("plot {SETTING} --rounds 10 --quantity delta --sweep epsilon=0..1:3 --json --bounds any-ldp-pld,local-composition")).json();
    assert_eq!((&json["quantity"], &json["sweep"]), (&"delta".into(), &"epsilon".into()));
    for point in json["points"].as_array().unwrap() {
        let line = format!("delta {SETTING} --rounds 10 --epsilon {} --all --json", point["x"]);
        let all = run_line(&line).json();
        assert_eq!(point["bounds"].as_array().unwrap().len(), 2);
        for bound in point["bounds"].as_array().unwrap() {
            let same = all["bounds"].as_array().unwrap().iter().find(|other| other["id"] == bound["id"]).unwrap();
            assert_eq!(bound["value"], same["delta"], "{line}");
        }
    }
}

/// Girgis et al., Theorem 2 is exact as a Rényi divergence: nothing rigorous may be below it.
#[test]
fn renyi_divergence_at_an_order_is_between_its_bounds() {
    for line in [
        "plot --clients 1e4 --local-epsilon 2 --quantity rdp --sweep order=2..64:9 --json",
        "plot --clients 1e4 --quantity rdp --order 4 --sweep local-epsilon=0.1..3:5 --json",
        "plot --clients 1e4 --sampled 100 --local-epsilon 1 --quantity rdp --order 2.5 --sweep rounds=1..100:3 --json",
    ] {
        let result = run_line(line);
        result.assert_decent(line);
        for point in result.json()["points"].as_array().unwrap() {
            let of = |id: &str| {
                let bound = point["bounds"].as_array().unwrap().iter().find(|bound| bound["id"] == id);
                bound.map(|bound| number(&bound["value"]))
            };
            let (lower, ours) = (of("girgis-theorem-2").unwrap(), of("any-ldp-rdp").unwrap());
            assert!(0.0 < lower && lower <= ours, "{line}: {point}");
            if let Some(theirs) = of("ccs21-upper") {
                assert!(lower <= theirs, "{line}: {point}");
            }
            assert_eq!(point["method"], "any-ldp-rdp");
        }
    }
}

#[test]
fn json_has_its_fields_and_no_others() {
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let json = run_line(&format!("plot {SETTING} --delta 1e-8 --sweep rounds=1..100:3 --json")).json();
    assert_eq!(
        names(&json),
        [
            "adjacency",
            "assumptions",
            "bounds",
            "delta",
            "not_applicable",
            "points",
            "quantity",
            "question",
            "sweep",
            "version"
        ]
    );
    assert_eq!(json["delta"], 1e-8);
    assert_eq!(names(&json["points"][0]), ["bounds", "method", "standing", "value", "x"]);
    assert_eq!(names(&json["bounds"][0]), ["citation", "id", "kind", "name", "note", "standing"]);
    assert_eq!(names(&json["not_applicable"][0]), ["id", "reason"]);
    for bound in json["points"][0]["bounds"].as_array().unwrap() {
        assert!(
            [vec!["id", "order", "value"], vec!["id", "value"]]
                .contains(&names(bound).iter().map(String::as_str).collect())
        );
    }
}

#[test]
fn every_flag_that_holds_a_number_can_be_swept() {
    for (flags, sweep) in [
        ("--sampled 10 --local-epsilon 1 --delta 1e-6", "clients=100..1000:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6", "sampled=1..1000:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6", "check-in=0.1..1:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6 --drop-out 0.5", "check-in=0.1..1:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6 --check-in 0.5", "drop-out=0..0.9:3"),
        ("--clients 1000 --delta 1e-6", "local-epsilon=0.1..2:3"),
        ("--clients 1000 --randomizer approximate --local-epsilon 1 --delta 1e-4", "local-delta=0..1e-9:3"),
        ("--clients 1000 --randomizer gaussian --delta 1e-6", "sigma=1..10:3"),
        ("--clients 1000 --randomizer krr --local-epsilon 1 --delta 1e-6", "categories=2..50:3"),
        ("--clients 1000 --randomizer priv-unit --local-epsilon 1 --delta 1e-6", "dimension=2..50:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6", "rounds=1..10:3"),
        ("--clients 1000 --local-epsilon 1", "delta=1e-9..1e-3:3"),
        ("--clients 1000 --local-epsilon 1 --quantity delta", "epsilon=0..1:3"),
        ("--clients 1000 --local-epsilon 1 --quantity rdp", "order=2..10:3"),
        ("--clients 1000 --local-epsilon 1 --delta 1e-6", "max-order=2..1000:3"),
    ] {
        let line = format!("plot {flags} --sweep {sweep} --json");
        let result = run_line(&line);
        result.assert_decent(&line);
        assert_eq!(result.code, Some(0), "{line}: {result:?}");
        assert_eq!(result.json()["points"].as_array().unwrap().len(), 3, "{line}");
        assert_eq!(run_line(&line.replace("--sweep ", "--sweep=")).stdout, result.stdout, "{line}");
    }
}

#[test]
fn pictures_are_whole_and_say_what_they_show() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a.svg"), "old").unwrap();
    let line = format!(
        "plot {SETTING} --delta 1e-8 --sweep rounds=1..1e5:12 -o a.svg --output b.png -o c.csv -o e.pdf --report d.html"
    );
    let result = run_words(folder.path(), &line);
    result.assert_decent(&line);
    assert!(result.stdout.starts_with("ε against rounds at δ = 1e-8, replace-one adjacency\n"), "{result:?}");
    for needed in ["bounds do not apply", "Left out", "local-composition", "wrote a.svg", "wrote d.html"] {
        assert!(result.stderr.contains(needed), "{needed}: {}", result.stderr);
    }
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for needed in [
        "Displacement, any ε0-LDP randomizer (rigorous)",
        "Feldman–McMillan–Talwar clones, composed (rigorous)",
        "Girgis et al. 2021, Theorem 1 (rigorous)",
        "Girgis et al. 2021, Theorem 2 (lower, flawed)",
        "rounds T",
        "ε at δ = 1e-8",
    ] {
        assert!(texts.contains(&needed), "{needed}: {texts:?}");
    }
    assert!(!texts.contains(&"Local guarantee, strongly composed, no shuffling (rigorous)"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("Replace-one adjacency")), "{texts:?}");
    assert_eq!(&fs::read(folder.path().join("b.png")).unwrap()[..8], b"\x89PNG\r\n\x1a\n");
    let page = fs::read_to_string(folder.path().join("d.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("displacement-any-pld") && page.contains("honest shuffler"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "something was left behind");
    assert_eq!(&fs::read(folder.path().join("e.pdf")).unwrap()[..5], b"%PDF-");
    // Whoever names bounds sees them whole.
    let whole = run_words(folder.path(), &format!("{} --bounds all", line.replace("1e5", "1e4")));
    assert!(!whole.stderr.contains("Left out"), "{whole:?}");
    assert!(
        fs::read_to_string(folder.path().join("a.svg"))
            .unwrap()
            .contains("Local guarantee, strongly composed, no shuffling (rigorous)")
    );
}

#[test]
fn bounds_choose_the_curves() {
    let ids = |rest: &str| {
        let json = run_line(&format!("plot {SETTING} --delta 1e-8 --sweep rounds=1..10:2 --json {rest}")).json();
        let bounds = json["bounds"].as_array().unwrap();
        bounds.iter().map(|bound| bound["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("--bounds any-ldp-pld,girgis-theorem-1"), ["girgis-theorem-1", "any-ldp-pld"]);
    assert_eq!(ids("--bounds any-ldp-pld --bounds girgis-theorem-1"), ["girgis-theorem-1", "any-ldp-pld"]);
    assert_eq!(ids("--bounds all"), ids(""));
    let rigorous = ids("--bounds rigorous");
    assert!(!rigorous.contains(&"girgis-theorem-2".to_owned()) && rigorous.contains(&"local-composition".to_owned()));
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let folder = tempdir().unwrap();
    let base = "plot --clients 1000 --local-epsilon 1 --delta 1e-6";
    let sweep = format!("{base} --sweep rounds=1..10");
    let cases = [
        (base.to_owned() + " -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep= -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=10..1 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=1..1 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=1..10:1 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=nan..10 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep local-epsilon=0.1..nan -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep colour=1..10 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep randomizer=1..10 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=one..10 -o a.svg", 2, "--sweep"),
        (base.to_owned() + " --sweep rounds=0..10 -o a.svg", 2, "--rounds must be"),
        (base.to_owned() + " --sweep sampled=1..2000 -o a.svg", 2, "--sampled must be"),
        (base.to_owned() + " --sweep sampled=1..100 --check-in 0.5 -o a.svg", 2, "--check-in"),
        (base.to_owned() + " --sweep drop-out=0..0.5 -o a.svg", 2, "--check-in"),
        (base.to_owned() + " --sweep sigma=1..2 -o a.svg", 2, "--sigma does not belong to --randomizer any"),
        (
            base.to_owned() + " --sweep epsilon=1..2 -o a.svg",
            2,
            "--epsilon is not what epsilon is asked at: give --delta",
        ),
        (base.to_owned() + " --sweep clients=10..100 -o a.svg", 2, "--clients is swept"),
        (base.to_owned() + " --sweep max-order=1..10 -o a.svg", 2, "--max-order"),
        (base.to_owned() + " --sweep rounds=1..10 --log --linear -o a.svg", 2, "--linear"),
        (
            "plot --clients 9 --local-epsilon 1 --quantity delta --sweep epsilon=0..2 --log -o a.svg".to_owned(),
            2,
            "--log needs",
        ),
        (
            "plot --clients 9 --local-epsilon 1 --quantity delta --sweep epsilon=-1..2 -o a.svg".to_owned(),
            2,
            "--epsilon must be",
        ),
        (
            "plot --clients 9 --local-epsilon 1 --quantity rdp --sweep rounds=1..2 -o a.svg".to_owned(),
            2,
            "--order is missing",
        ),
        (
            "plot --clients 9 --local-epsilon 1 --quantity rdp --order 1 --sweep rounds=1..2 -o a.svg".to_owned(),
            2,
            "--order must be",
        ),
        ("plot --clients 9 --local-epsilon 1 --sweep rounds=1..2 -o a.svg".to_owned(), 2, "--delta is missing"),
        ("plot --local-epsilon 1 --delta 1e-6 --sweep rounds=1..2 -o a.svg".to_owned(), 2, "--clients"),
        (sweep.clone(), 2, "--output"),
        (sweep.clone() + " -o a.gif", 2, "--output"),
        (sweep.clone() + " -o a", 2, "--output"),
        (sweep.clone() + " -o a.svg -o ./a.svg", 2, "named twice"),
        (sweep.clone() + " -o no/such/folder/a.svg", 1, "--output: cannot write"),
        (sweep.clone() + " -o a.svg --report no/such/folder/a.html", 1, "--report: cannot write"),
        (sweep.clone() + " -o a.svg --bounds nonsense", 2, "--bounds: 'nonsense' is not a bound"),
        (sweep.clone() + " -o a.svg --bounds gaussian-pair", 1, "gaussian-pair: the bound is for the Gaussian"),
        (sweep + " -o a.svg --quantity entropy", 2, "--quantity"),
    ];
    for (line, code, message) in cases {
        let result = run_words(folder.path(), &line);
        result.assert_decent(&line);
        assert_eq!(result.code, Some(code), "{line}: {result:?}");
        assert!(result.stderr.contains(message), "{line}: {}", result.stderr);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{line}: something was left behind");
    }
}

#[test]
fn a_reader_that_left_still_gets_the_picture() {
    let folder = tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = common::program();
    let line = format!("plot {SETTING} --delta 1e-8 --sweep rounds=1..10:2 -o a.svg");
    command.args(line.split_whitespace()).current_dir(folder.path()).stdout(writer);
    assert_eq!(common::finish(command.spawn().unwrap()).code, Some(0));
    assert!(folder.path().join("a.svg").exists());
}
