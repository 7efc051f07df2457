//! Vector mechanisms refuse bad parameters, bad inputs, and frames that no input could have
//! produced. The reports that they send decode to the same report.
#![allow(clippy::unwrap_used, missing_docs)]

use shuffledp_randomizers::{
    Aggregator, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, PrivUnit, Randomizer, RandomizerError,
    RoundedGaussian, SimulationRng,
};

fn refuses_bad_inputs<M: Randomizer<Input = [f32]>>(mechanism: &M) {
    let mut rng = SimulationRng::from_seed(1);
    for bad in [
        vec![],
        vec![0.1; 2],
        vec![0.1; 4],
        vec![0.1, f32::NAN, 0.1],
        vec![f32::INFINITY, 0.0, 0.0],
        vec![0.0, 0.0, f32::NEG_INFINITY],
    ] {
        assert!(matches!(mechanism.randomize(&bad, &mut rng), Err(RandomizerError::Input { .. })), "{bad:?}");
    }
    // What is finite is clipped, however large or small.
    for good in [vec![f32::MAX; 3], vec![f32::from_bits(1); 3], vec![0.0; 3], vec![-0.0, f32::MIN, 1.0]] {
        let report = mechanism.randomize(&good, &mut rng).unwrap();
        let mut frame = vec![0; mechanism.frame_len()];
        mechanism.encode(&report, &mut frame);
        assert_eq!(mechanism.decode(&frame).unwrap(), report, "{good:?}");
    }
}

fn reads_back_what_it_sends<M: Randomizer<Input = [f32]>>(mechanism: &M) {
    let mut rng = SimulationRng::from_seed(2);
    let mut frame = vec![0; mechanism.frame_len()];
    for i in 0..200 {
        let input: Vec<f32> = (0..3).map(|j| ((i * 3 + j) as f32).sin()).collect();
        let report = mechanism.randomize(&input, &mut rng).unwrap();
        mechanism.encode(&report, &mut frame);
        let read = mechanism.decode(&frame).unwrap();
        assert_eq!(read, report);
        let mut again = vec![0; mechanism.frame_len()];
        mechanism.encode(&read, &mut again);
        assert_eq!(again, frame);
    }
    for wrong in [0, mechanism.frame_len() - 1, mechanism.frame_len() + 1] {
        assert!(matches!(mechanism.decode(&vec![0; wrong]), Err(RandomizerError::Report { .. })), "{wrong} bytes");
    }
}

fn aggregates<M: Randomizer<Input = [f32]>>(mechanism: &M, other: &M) {
    let mut rng = SimulationRng::from_seed(3);
    assert!(matches!(mechanism.aggregator().mean(), Err(RandomizerError::Aggregate { .. })));
    let reports: Vec<_> = (0..10).map(|_| mechanism.randomize(&[0.1, 0.2, -0.3], &mut rng).unwrap()).collect();
    let of = |reports: &[M::Report]| {
        let mut aggregator = mechanism.aggregator();
        reports.iter().for_each(|report| aggregator.add(report));
        aggregator
    };
    let (whole, mut left) = (of(&reports), of(&reports[..4]));
    left.merge(of(&reports[4..])).unwrap();
    assert_eq!(left.count(), 10);
    for (a, b) in left.mean().unwrap().iter().zip(whole.mean().unwrap()) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0));
    }
    assert!(left.merge(other.aggregator()).is_err());
    assert_eq!(left.count(), 10);
}

macro_rules! all_of {
    ($check:ident) => {
        $check(&PrivUnit::new(2.0, 3, 1.0).unwrap());
        $check(&Gaussian::new(1.0, 3, 1.0).unwrap());
        $check(&Laplace::new(1.0, 3, 1.0).unwrap());
        $check(&DiscreteGaussian::new(1.0, 3, 1.0).unwrap());
        $check(&RoundedGaussian::new(1.0, 3, 1.0).unwrap());
        $check(&DiscreteLaplace::new(1.0, 3, 1.0).unwrap());
    };
}

#[test]
fn bad_inputs() {
    all_of!(refuses_bad_inputs);
}

#[test]
fn frames() {
    all_of!(reads_back_what_it_sends);
}

#[test]
fn aggregators() {
    aggregates(&PrivUnit::new(2.0, 3, 1.0).unwrap(), &PrivUnit::new(2.5, 3, 1.0).unwrap());
    aggregates(&Gaussian::new(1.0, 3, 1.0).unwrap(), &Gaussian::new(1.0, 4, 1.0).unwrap());
    aggregates(&Laplace::new(1.0, 3, 1.0).unwrap(), &Laplace::new(1.0, 2, 1.0).unwrap());
    aggregates(&DiscreteGaussian::new(1.0, 3, 1.0).unwrap(), &DiscreteGaussian::new(1.0, 3, 2.0).unwrap());
    aggregates(&RoundedGaussian::new(1.0, 3, 1.0).unwrap(), &RoundedGaussian::new(1.5, 3, 1.0).unwrap());
    aggregates(&DiscreteLaplace::new(1.0, 3, 1.0).unwrap(), &DiscreteLaplace::with_steps(1.0, 3, 1.0, 7).unwrap());
}

#[test]
fn points_off_the_sphere() {
    let mechanism = PrivUnit::new(2.0, 3, 1.0).unwrap();
    let read = |x: [i16; 3]| mechanism.decode(&x.map(i16::to_le_bytes).concat());
    let pole = i16::MAX;
    assert!(read([pole, 0, 0]).is_ok() && read([-pole, 1, -1]).is_ok());
    // (0.6, −0.8, 0) rounded away from 0, and one step further.
    assert!(read([19661, -26214, 0]).is_ok());
    for bad in [[0; 3], [pole, 300, 0], [pole - 3, 0, 0], [i16::MIN, 0, 0], [19662, -26215, 0], [pole; 3]] {
        assert!(matches!(read(bad), Err(RandomizerError::Report { .. })), "{bad:?}");
    }
    // In many dimensions the grid is coarse beside a coordinate, but a whole vector of zeros or of
    // ones is still none.
    let many = PrivUnit::new(2.0, 10_000, 1.0).unwrap();
    assert!(many.decode(&vec![0; 20_000]).is_err());
    let mut rng = SimulationRng::from_seed(4);
    let mut frame = vec![0; many.frame_len()];
    let report = many.randomize(&vec![0.1; 10_000], &mut rng).unwrap();
    many.encode(&report, &mut frame);
    assert_eq!(many.decode(&frame).unwrap(), report);
    let doubled: Box<[i16]> = report.iter().map(|x| 2 * x).collect();
    many.encode(&doubled, &mut frame);
    assert!(many.decode(&frame).is_err());
}

#[test]
fn values_beyond_what_noise_reaches() {
    let gaussian = Gaussian::new(1.0, 1, 1.0).unwrap();
    let laplace = Laplace::new(1.0, 1, 1.0).unwrap();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e9] {
        assert!(gaussian.decode(&bad.to_le_bytes()).is_err() && laplace.decode(&bad.to_le_bytes()).is_err(), "{bad}");
    }
    assert!(gaussian.decode(&12.0_f32.to_le_bytes()).is_ok());
    // All bytes at their largest are beyond the range of the discrete ones.
    let discrete = DiscreteGaussian::new(1.0, 3, 1.0).unwrap();
    assert!(matches!(discrete.decode(&vec![255; discrete.frame_len()]), Err(RandomizerError::Report { .. })));
    let discrete = DiscreteLaplace::new(1.0, 3, 1.0).unwrap();
    assert!(matches!(discrete.decode(&vec![255; discrete.frame_len()]), Err(RandomizerError::Report { .. })));
}

#[test]
fn bad_parameters() {
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert!(PrivUnit::new(bad, 3, 1.0).is_err(), "{bad}");
        assert!(Gaussian::new(bad, 3, 1.0).is_err(), "{bad}");
        assert!(Laplace::new(bad, 3, 1.0).is_err(), "{bad}");
        assert!(DiscreteGaussian::new(bad, 3, 1.0).is_err(), "{bad}");
        assert!(DiscreteLaplace::new(bad, 3, 1.0).is_err(), "{bad}");
        assert!(RoundedGaussian::new(bad, 3, 1.0).is_err(), "{bad}");
    }
    for bad in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
        assert!(PrivUnit::new(1.0, 3, bad).is_err(), "{bad}");
        assert!(Gaussian::new(1.0, 3, bad).is_err(), "{bad}");
        assert!(Laplace::new(1.0, 3, bad).is_err(), "{bad}");
        assert!(DiscreteGaussian::new(1.0, 3, bad).is_err(), "{bad}");
        assert!(DiscreteLaplace::new(1.0, 3, bad).is_err(), "{bad}");
        assert!(RoundedGaussian::new(1.0, 3, bad).is_err(), "{bad}");
    }
    // No dimension; PrivUnit needs two.
    assert!(PrivUnit::new(1.0, 0, 1.0).is_err() && PrivUnit::new(1.0, 1, 1.0).is_err());
    assert!(Gaussian::new(1.0, 0, 1.0).is_err() && Laplace::new(1.0, 0, 1.0).is_err());
    assert!(DiscreteGaussian::new(1.0, 0, 1.0).is_err() && DiscreteLaplace::new(1.0, 0, 1.0).is_err());
    assert!(RoundedGaussian::new(1.0, 0, 1.0).is_err());
    // Too little noise for the words, or too much for the vector's digits; the ends themselves will
    // do.
    for (sigma, is_accepted) in [(0.0625, true), (0.06, false), (1048576.0, true), (1.1e6, false)] {
        let built = RoundedGaussian::new(sigma, 3, 1.0);
        assert_eq!(built.is_ok(), is_accepted, "{sigma}");
        if let Err(error) = built {
            assert!(error.to_string().contains("sigma must be between 1/16 and 2^20"), "{error}");
        }
    }
    // Grids without steps, or noise that does not fit.
    assert!(
        DiscreteGaussian::with_steps(1.0, 3, 1.0, 0).is_err() && DiscreteLaplace::with_steps(1.0, 3, 1.0, 0).is_err()
    );
    assert!(DiscreteGaussian::new(1e9, 3, 1.0).is_err() && DiscreteLaplace::new(1e-9, 3, 1.0).is_err());
    assert!(Gaussian::new(1e30, 3, 1e30).is_err() && Laplace::new(1e-30, 3, 1e30).is_err());
}

#[test]
fn the_whole_range_of_priv_unit() {
    let mut rng = SimulationRng::from_seed(5);
    for dimension in [2, 3, 100, 1_000_000] {
        let input = vec![1.0_f32; dimension as usize];
        for local_epsilon in [0.1, 1.0, 10.0, 50.0] {
            let mechanism = PrivUnit::new(local_epsilon, dimension, 1.0).unwrap();
            let report = mechanism.randomize(&input, &mut rng).unwrap();
            let mut frame = vec![0; mechanism.frame_len()];
            mechanism.encode(&report, &mut frame);
            assert_eq!(mechanism.decode(&frame).unwrap(), report, "d = {dimension}, ε0 = {local_epsilon}");
        }
    }
}
