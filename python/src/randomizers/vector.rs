//! Randomizers of vectors.

use super::Made;
use super::aggregator::Aggregator;
use super::arrays::{HeldVectors, Vectors};
use super::coins::{Coins, SimulationRng};
use super::mechanism::VectorMechanism;
use super::steps::in_steps;
use crate::arguments::{Arguments, Takes};
use crate::errors::{ParameterError, refused};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::{
    DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, Laplace, PrivUnit, PublicSeed, R1, RInf, Randomizer,
    RoundedGaussian, TopSet,
};

/// A mechanism over vectors, by the command line's name; the mechanisms of this module are such.
///
/// `clip` is the norm to which vectors are clipped, in the mechanism's own (ℓ1, ℓ2 or ℓ∞).
/// `public_seed`, 32 bytes, is the public randomness of a round. Only top-set uses it.
///
/// >>> from shuffledp.randomizers import VectorRandomizer
/// >>> VectorRandomizer("r-inf", local_epsilon=2.0, dimension=13_706, clip=0.01).frame_len
/// 2
#[pyclass(module = "shuffledp.randomizers", subclass, frozen)]
pub(crate) struct VectorRandomizer {
    name: String,
    mechanism: Box<dyn VectorMechanism>,
    dimension: u32,
    clip: f64,
    public_seed: Option<[u8; 32]>,
}

impl VectorRandomizer {
    pub(super) fn made(&self) -> Made {
        Made {
            spec: self.mechanism.spec(),
            shape: Some(VectorShape { dimension: self.dimension, clip: self.clip as f32 }),
        }
    }

    /// Rows that are worth a thread of their own.
    fn block(&self) -> usize {
        (1_usize << 18).div_ceil(self.dimension as usize).min(4096)
    }

    fn run(&self, py: Python<'_>, vectors: &Vectors<'_>, coins: Coins, frames: &mut [u8]) -> PyResult<()> {
        let (length, block) = (self.mechanism.frame_len(), self.block());
        in_steps(py, vectors.len(), block, |rows| {
            let frames = &mut frames[rows.start * length..rows.end * length];
            self.mechanism.randomize(vectors, rows, block, coins, frames)
        })
    }

    /// Returns its parameters.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = PyDict::new(py);
        super::add_parameters(&parameters, &self.mechanism.spec())?;
        parameters.set_item("dimension", self.dimension)?;
        parameters.set_item("clip", self.clip)?;
        if let Some(seed) = &self.public_seed {
            parameters.set_item("public_seed", PyBytes::new(py, seed))?;
        }
        Ok(parameters)
    }
}

/// The mechanism that `spec` names, in the round of this seed.
fn mechanism(
    spec: RandomizerSpec,
    shape: VectorShape,
    public_seed: Option<[u8; 32]>,
) -> PyResult<Box<dyn VectorMechanism>> {
    let VectorShape { dimension, clip } = shape;
    if let Mechanism::TopSet { local_epsilon, share, .. } = spec.mechanism() {
        let mechanism = TopSet::new(local_epsilon, dimension, clip, share).map_err(refused)?;
        return Ok(Box::new(mechanism.in_round(PublicSeed(public_seed.unwrap_or_default()))));
    }
    if public_seed.is_some() {
        return Err(ParameterError::new_err("public_seed belongs to randomizer top-set; leave it out"));
    }
    Ok(match spec.mechanism() {
        Mechanism::RInf { local_epsilon } => Box::new(RInf::new(local_epsilon, dimension, clip).map_err(refused)?),
        Mechanism::R1 { local_epsilon } => Box::new(R1::new(local_epsilon, dimension, clip).map_err(refused)?),
        Mechanism::R2 { local_epsilon } => Box::new(Duchi::new(local_epsilon, dimension, clip).map_err(refused)?),
        Mechanism::LdpSgd { local_epsilon } => {
            Box::new(Duchi::ldp_sgd(local_epsilon, dimension, clip).map_err(refused)?)
        }
        Mechanism::PrivUnit { local_epsilon, .. } => {
            Box::new(PrivUnit::new(local_epsilon, dimension, clip).map_err(refused)?)
        }
        Mechanism::Gaussian { sigma } => Box::new(Gaussian::new(sigma, dimension, clip).map_err(refused)?),
        Mechanism::DiscreteGaussian { sigma } => {
            Box::new(DiscreteGaussian::new(sigma, dimension, clip).map_err(refused)?)
        }
        Mechanism::RoundedGaussian { sigma } => {
            Box::new(RoundedGaussian::new(sigma, dimension, clip).map_err(refused)?)
        }
        Mechanism::Laplace { local_epsilon } => {
            Box::new(Laplace::new(local_epsilon, dimension, clip).map_err(refused)?)
        }
        Mechanism::DiscreteLaplace { local_epsilon } => {
            Box::new(DiscreteLaplace::new(local_epsilon, dimension, clip).map_err(refused)?)
        }
        other => return Err(ParameterError::new_err(format!("not a mechanism over vectors: {other:?}"))),
    })
}

fn seed_of(bytes: &Bound<'_, PyBytes>) -> PyResult<[u8; 32]> {
    let bytes = bytes.as_bytes();
    let wrong = |_| ParameterError::new_err(format!("public_seed must be 32 bytes, but has {}", bytes.len()));
    bytes.try_into().map_err(wrong)
}

#[pymethods]
impl VectorRandomizer {
    #[new]
    #[pyo3(signature = (name, *, dimension, clip, public_seed=None, **parameters))]
    fn new(
        name: &str,
        dimension: u32,
        clip: f64,
        public_seed: Option<&Bound<'_, PyBytes>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let arguments = Arguments::read("VectorRandomizer", Takes::Round, parameters)?.named(name);
        let spec = arguments.in_dimension(dimension)?.randomizer()?;
        let public_seed = public_seed.map(seed_of).transpose()?;
        let mechanism = mechanism(spec, VectorShape { dimension, clip: clip as f32 }, public_seed)?;
        Ok(Self { name: name.to_owned(), mechanism, dimension, clip, public_seed })
    }

    /// The command line's name of it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Coordinates of a vector.
    #[getter]
    fn dimension(&self) -> u32 {
        self.dimension
    }

    /// The norm to which vectors are clipped.
    #[getter]
    fn clip(&self) -> f64 {
        self.clip
    }

    /// ε0, where the mechanism has one.
    #[getter]
    fn local_epsilon<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        super::parameter(py, &self.mechanism.spec(), "local_epsilon")
    }

    /// The noise's standard deviation over the clipping norm, where the mechanism has one.
    #[getter]
    fn sigma<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        super::parameter(py, &self.mechanism.spec(), "sigma")
    }

    /// The share of all signed coordinates in a client's own set; of top-set alone.
    #[getter]
    fn share<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        super::parameter(py, &self.mechanism.spec(), "share")
    }

    /// The keyword arguments it was made with.
    #[getter]
    #[pyo3(name = "parameters")]
    fn all_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.parameters(py)
    }

    /// The public randomness of the round, if any was given.
    #[getter]
    fn public_seed<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.public_seed.map(|seed| PyBytes::new(py, &seed))
    }

    /// Bytes of every report.
    #[getter]
    fn frame_len(&self) -> usize {
        self.mechanism.frame_len()
    }

    /// The report of one client, which holds the vector `x`: clipped, randomized and encoded. An
    /// array of several dimensions is a vector in C order.
    ///
    /// Its coins come from the operating system; with `rng`, a `SimulationRng`, it protects nobody.
    #[pyo3(signature = (x, *, rng=None))]
    fn randomize<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        rng: Option<&Bound<'py, SimulationRng>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let held = HeldVectors::read("x", x, false)?;
        let vector = held.rows("x")?;
        let coins = Coins::of(rng, 1);
        let mut frame = vec![0; self.mechanism.frame_len()];
        // Only one: its number is no news.
        py.detach(|| self.mechanism.randomize(&vector, 0..1, 1, coins, &mut frame))
            .map_err(|refusal| refused(refusal.error))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// The reports of many clients, one for each row of `x`, as rows of bytes. What each row holds
    /// may have several dimensions.
    ///
    /// Rows of float32 are read where they lie; float64 and float16 are converted one row at a
    /// time. One row that cannot be randomized (NaN, say), and nothing is returned.
    #[pyo3(signature = (x, *, rng=None))]
    fn randomize_batch<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        rng: Option<&Bound<'py, SimulationRng>>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let held = HeldVectors::read("x", x, true)?;
        let vectors = held.rows("x")?;
        let coins = Coins::of(rng, vectors.len());
        let frames = PyArray2::zeros(py, [vectors.len(), self.mechanism.frame_len()], false);
        self.run(py, &vectors, coins, frames.readwrite().as_slice_mut()?)?;
        Ok(frames)
    }

    /// The vector that one report estimates: unbiased, where the mechanism is, and far from the
    /// client's own.
    ///
    /// >>> from shuffledp.randomizers import RInf
    /// >>> RInf(local_epsilon=2.0, dimension=3, clip=1.0).decode(bytes([1])).round(2).tolist()
    /// [3.94, 0.0, 0.0]
    fn decode<'py>(&self, py: Python<'py>, report: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut aggregate = self.mechanism.aggregate();
        aggregate.add_frame(&super::arrays::frame("report", report)?).map_err(refused)?;
        Ok(PyArray1::from_vec(py, aggregate.mean().map_err(refused)?))
    }

    /// Name and parameters as a dictionary that JSON can hold; `from_dict` reads it.
    ///
    /// >>> from shuffledp.randomizers import Gaussian, from_dict
    /// >>> Gaussian(sigma=2.0, dimension=10, clip=1.0).to_dict()
    /// {'randomizer': 'gaussian', 'sigma': 2.0, 'dimension': 10, 'clip': 1.0}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let written = PyDict::new(py);
        written.set_item("randomizer", &self.name)?;
        written.update(self.parameters(py)?.as_mapping())?;
        if let Some(seed) = &self.public_seed {
            let digits: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
            written.set_item("public_seed", digits)?;
        }
        Ok(written)
    }

    /// An empty aggregate of this mechanism's reports.
    fn aggregator(slf: &Bound<'_, Self>) -> Aggregator {
        Aggregator::new(slf.get().mechanism.aggregate(), slf.clone().into_any().unbind())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        super::shown(slf.as_any(), slf.get().parameters(slf.py())?)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        let (one, two) = (slf.get(), other.get());
        Ok(one.mechanism.spec() == two.mechanism.spec() && one.parameters(slf.py())?.eq(two.parameters(slf.py())?)?)
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        (&slf.get().name, Self::__repr__(slf)?).into_pyobject(slf.py())?.hash()
    }

    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let parameters = slf.get().parameters(slf.py())?;
        let is_named = !slf.get_type().is(slf.py().get_type::<Self>());
        super::arguments_of_new(parameters, is_named, &slf.get().name)
    }
}
