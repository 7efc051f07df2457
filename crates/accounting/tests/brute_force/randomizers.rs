//! Channel matrices of local randomizers: one row of output probabilities for each input.

use crate::dominating::Randomizer;
use crate::protocol::Row;
use crate::rng::Rng;
use shuffledp_accounting::scheme::Mechanism;

/// A local randomizer and the inputs a dataset may hold.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    /// For reports.
    pub(crate) name: &'static str,
    /// The randomizer that the bounds are asked about.
    pub(crate) randomizer: Randomizer,
    /// ε0.
    pub(crate) local_epsilon: f64,
    /// The laws of the outputs of a few inputs; every convex mixture of them is an input too.
    pub(crate) rows: Vec<Row>,
}

impl Channel {
    fn new(name: &'static str, randomizer: Randomizer, local_epsilon: f64, rows: Vec<Row>) -> Self {
        let channel = Self { name, randomizer, local_epsilon, rows };
        channel.check();
        channel
    }

    /// Rows are laws, and no output is more than `e^ε0` times likelier under one input than under
    /// another. The enumerator would otherwise refute a bound that was never claimed.
    fn check(&self) {
        let e = self.local_epsilon.exp();
        for row in &self.rows {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{}: not a law: {row:?}", self.name);
            assert!(row.iter().all(|&p| p >= 0.0), "{}: {row:?}", self.name);
            for other in &self.rows {
                let within = row.iter().zip(other).all(|(p, q)| *p <= e * q * (1.0 + 1e-14));
                assert!(within, "{}: not {}-LDP: {row:?} {other:?}", self.name, self.local_epsilon);
            }
        }
    }

    /// The same matrix, of which only ε0-LDP is told.
    pub(crate) fn forget(self) -> Self {
        Self { randomizer: Randomizer::any(self.local_epsilon), ..self }
    }

    /// A random convex mixture of the rows: an input inside the domain that is randomly rounded to
    /// one of them.
    pub(crate) fn mixture(&self, rng: &mut Rng) -> Row {
        let weights = rng.simplex(self.rows.len());
        let mut mixed = vec![0.0; self.rows[0].len()];
        for (weight, row) in weights.iter().zip(&self.rows) {
            mixed.iter_mut().zip(row).for_each(|(sum, p)| *sum += weight * p);
        }
        mixed
    }
}

/// Binary randomized response.
pub(crate) fn binary_response(local_epsilon: f64) -> Channel {
    let rows = response_rows(local_epsilon, 2);
    Channel::new("2-RR", Randomizer::named(Mechanism::Rr { local_epsilon }), local_epsilon, rows)
}

/// Randomized response over `m` values: the truth with probability `E/(E + m − 1)`, else another
/// value.
pub(crate) fn response(local_epsilon: f64, m: usize) -> Channel {
    let randomizer = Randomizer::named(Mechanism::Krr { local_epsilon, categories: m as u64 });
    let name = ["", "", "2-RR as m-RR", "3-RR", "4-RR", "5-RR", "6-RR"][m];
    Channel::new(name, randomizer, local_epsilon, response_rows(local_epsilon, m))
}

fn response_rows(local_epsilon: f64, m: usize) -> Vec<Row> {
    let e = local_epsilon.exp();
    let row = |x| (0..m).map(|y| if x == y { e } else { 1.0 } / (e + m as f64 - 1.0)).collect();
    (0..m).map(row).collect()
}

/// One signed coordinate of a vector in the square `‖x‖_∞ ≤ 1`: the corners and three points
/// inside.
pub(crate) fn r_inf(local_epsilon: f64, rng: &mut Rng) -> Channel {
    let mut inputs: Vec<Vec<f64>> = Vec::new();
    for corner in 0..4 {
        inputs.push(vec![sign(corner & 1 == 0), sign(corner & 2 == 0)]);
    }
    for _ in 0..3 {
        inputs.push(vec![rng.between(-1.0, 1.0), rng.between(-1.0, 1.0)]);
    }
    let rows = inputs.iter().map(|x| signed_coordinate(local_epsilon, x)).collect();
    Channel::new("R_inf", Randomizer::named(Mechanism::RInf { local_epsilon }), local_epsilon, rows)
}

/// One signed Hadamard coordinate of a vector of dimension 3, padded to 4, in `‖x‖_1 ≤ 1`: `±e_i`
/// and three points inside.
pub(crate) fn r_one(local_epsilon: f64, rng: &mut Rng) -> Channel {
    let mut inputs: Vec<Vec<f64>> = Vec::new();
    for i in 0..3 {
        for s in [1.0, -1.0] {
            inputs.push((0..3).map(|j| if i == j { s } else { 0.0 }).collect());
        }
    }
    for _ in 0..3 {
        let radius = rng.unit();
        inputs.push(rng.simplex(3).iter().map(|w| w * radius * sign(rng.chance(0.5))).collect());
    }
    let rows = inputs.iter().map(|x| signed_coordinate(local_epsilon, &hadamard(x, 4))).collect();
    Channel::new("R_1", Randomizer::named(Mechanism::R1 { local_epsilon }), local_epsilon, rows)
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// `H x` for the ±1 Hadamard matrix of a power of two, `x` padded with zeros. Clamped, as the
/// randomizer does.
fn hadamard(x: &[f64], size: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| sign((i & j).count_ones().is_multiple_of(2));
    let transform = |i| x.iter().enumerate().map(|(j, x)| entry(i, j) * x).sum::<f64>();
    (0..size).map(|i| transform(i).clamp(-1.0, 1.0)).collect()
}

/// A uniform coordinate `j`; then + with probability `½ + x_j/(2c)`, `c = (E + 1)/(E − 1)`.
fn signed_coordinate(local_epsilon: f64, x: &[f64]) -> Row {
    let e = local_epsilon.exp();
    let c = (e + 1.0) / (e - 1.0);
    let each = 1.0 / x.len() as f64;
    x.iter().flat_map(|x| [0.5 + x / (2.0 * c), 0.5 - x / (2.0 * c)]).map(|p| each * p).collect()
}

/// As PrivUnit: `outputs` points, of which a cap of `high` points, its place given by the input, is
/// `E` times likelier. The caps are arcs of a circle and a few sets at random.
pub(crate) fn cap(local_epsilon: f64, outputs: usize, high: usize, rng: &mut Rng) -> Channel {
    let mut caps: Vec<Vec<usize>> =
        (0..outputs).map(|x| (0..high).map(|i| (x + i) % outputs).collect()).collect::<Vec<_>>();
    for _ in 0..3 {
        let mut points: Vec<usize> = (0..outputs).collect();
        for i in 0..high {
            points.swap(i, i + rng.below(outputs - i));
        }
        caps.push(points[..high].to_vec());
    }
    two_level("cap", local_epsilon, &vec![1.0 / outputs as f64; outputs], &caps)
}

/// A blanket that is not uniform, with high sets of one measure but of different sizes.
pub(crate) fn uneven_cap(local_epsilon: f64) -> Channel {
    let caps = [vec![0, 1], vec![2], vec![4], vec![1, 3]];
    two_level("uneven cap", local_epsilon, &[0.1, 0.2, 0.3, 0.1, 0.3], &caps)
}

fn two_level(name: &'static str, local_epsilon: f64, blanket: &[f64], caps: &[Vec<usize>]) -> Channel {
    let e = local_epsilon.exp();
    let high_mass: f64 = caps[0].iter().map(|&y| blanket[y]).sum();
    let scale = 1.0 / (1.0 + (e - 1.0) * high_mass);
    let level = |cap: &[usize], y| if cap.contains(&y) { e } else { 1.0 };
    let row = |cap: &Vec<usize>| blanket.iter().enumerate().map(|(y, w)| scale * w * level(cap, y)).collect();
    let rows = caps.iter().map(row).collect();
    Channel::new(name, Randomizer::TwoLevel { local_epsilon, high_mass }, local_epsilon, rows)
}

/// An extreme point of the polytope of ε0-LDP matrices over three inputs: each column is a multiple
/// of a vector of ones and `E`s. With `s_S` the scale of the column that is high on the inputs `S`,
/// the rows have equal sums if and only if `s_1 − s_23 = s_2 − s_13 = s_3 − s_12`, so every such
/// matrix can be drawn this way.
pub(crate) fn staircase(local_epsilon: f64, rng: &mut Rng) -> Channel {
    let e = local_epsilon.exp();
    let mut draw = || if rng.chance(0.4) { 0.0 } else { rng.unit() };
    let pairs = [draw(), draw(), draw()];
    let least = pairs.iter().copied().fold(f64::INFINITY, f64::min);
    let flat = draw() * 0.5;
    let difference = if rng.chance(0.3) { -least } else { rng.between(-least, 1.0 + 1e-3) };
    let mut columns: Vec<[f64; 3]> = vec![[flat; 3]];
    for (i, pair) in pairs.iter().enumerate() {
        let single = (pair + difference).max(0.0);
        columns.push([0, 1, 2].map(|x| single * if x == i { e } else { 1.0 }));
        columns.push([0, 1, 2].map(|x| pair * if x == i { 1.0 } else { e }));
    }
    columns.retain(|column| column[0] > 0.0);
    if columns.is_empty() {
        columns.push([1.0; 3]);
    }
    // Equal up to rounding; each row is divided by its own.
    let sums = [0, 1, 2].map(|x| columns.iter().map(|column| column[x]).sum::<f64>());
    let rows = (0..3).map(|x| columns.iter().map(|column| column[x] / sums[x]).collect()).collect();
    Channel::new("staircase", Randomizer::any(local_epsilon), local_epsilon, rows)
}

/// Staircases over `inputs` inputs that are invariant under rotating the inputs: the orbits of one
/// or two patterns.
pub(crate) fn rotated_staircase(local_epsilon: f64, inputs: usize, rng: &mut Rng) -> Channel {
    let e = local_epsilon.exp();
    let mut columns: Vec<Row> = Vec::new();
    for _ in 0..1 + rng.below(2) {
        let pattern = 1 + rng.below((1 << inputs) - 2);
        let scale = rng.between(0.05, 1.0);
        for shift in 0..inputs {
            let high = |x: usize| pattern >> ((x + shift) % inputs) & 1 == 1;
            columns.push((0..inputs).map(|x| scale * if high(x) { e } else { 1.0 }).collect());
        }
    }
    let sum: f64 = columns.iter().map(|column| column[0]).sum();
    let rows = (0..inputs).map(|x| columns.iter().map(|column| column[x] / sum).collect()).collect();
    Channel::new("rotated staircase", Randomizer::any(local_epsilon), local_epsilon, rows)
}

/// A staircase whose outputs are garbled: entries strictly between the extremes.
pub(crate) fn garbled(local_epsilon: f64, rng: &mut Rng) -> Channel {
    let inner = staircase(local_epsilon, rng);
    let outputs = 2 + rng.below(3);
    let kernel: Vec<Row> = inner.rows[0].iter().map(|_| rng.simplex(outputs)).collect();
    let garble = |row: &Row| {
        (0..outputs).map(|z| row.iter().zip(&kernel).map(|(p, to)| p * to[z]).sum::<f64>()).collect::<Row>()
    };
    let rows = inner.rows.iter().map(garble).collect();
    Channel::new("garbled", Randomizer::any(local_epsilon), local_epsilon, rows)
}

/// Random rows, drawn towards their mean just so far that the largest ratio is `E`.
pub(crate) fn tilted(local_epsilon: f64, rng: &mut Rng) -> Channel {
    let e = local_epsilon.exp();
    let (inputs, outputs) = (2 + rng.below(3), 2 + rng.below(4));
    let raw: Vec<Row> = (0..inputs).map(|_| rng.simplex(outputs)).collect();
    let mean: Row = (0..outputs).map(|y| raw.iter().map(|row| row[y]).sum::<f64>() / inputs as f64).collect();
    let drawn = |share: f64| -> Vec<Row> {
        raw.iter().map(|row| row.iter().zip(&mean).map(|(p, m)| share * p + (1.0 - share) * m).collect()).collect()
    };
    let ratio = |rows: &[Row]| {
        let spread = |y: usize| {
            let column = || rows.iter().map(|row| row[y]);
            column().fold(0.0, f64::max) / column().fold(f64::INFINITY, f64::min)
        };
        (0..outputs).map(spread).fold(1.0, f64::max)
    };
    // Invariant: the ratio at `low` is at most E.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if ratio(&drawn(middle)) <= e { low = middle } else { high = middle }
    }
    Channel::new("tilted", Randomizer::any(local_epsilon), local_epsilon, drawn(low))
}
