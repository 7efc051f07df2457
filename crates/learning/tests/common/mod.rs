//! Helpers of several tests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use shuffledp_learning::data::Clients;
use shuffledp_learning::models::Model;

/// A float in [−1, 1) from two integers, as in `data/gradients/make_gradients.py`.
pub fn number(index: usize, salt: u32) -> f32 {
    let mut bits =
        (index as u32).wrapping_mul(0x9e37_79b1).wrapping_add(salt.wrapping_mul(0x85eb_ca77)).wrapping_add(1);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^= bits >> 16;
    (bits >> 8) as f32 / 8_388_608.0 - 1.0
}

/// Every client's loss and gradient.
pub fn gradients(model: &impl Model, weights: &[f32], population: &impl Clients) -> Vec<(f32, Vec<f32>)> {
    let clients: Vec<u64> = (0..population.count()).collect();
    let fold = model.fold_gradients(
        weights,
        population,
        &clients,
        Vec::new,
        |all: &mut Vec<_>, client| {
            all.push((client.position, client.client, client.loss, client.gradient.to_vec()));
            Ok(())
        },
        |all, mut more| {
            all.append(&mut more);
            Ok(())
        },
    );
    let all = fold.unwrap();
    for (index, (position, client, ..)) in all.iter().enumerate() {
        assert_eq!((*position, *client), (index, index as u64), "clients are shown out of order");
    }
    all.into_iter().map(|(_, _, loss, gradient)| (loss, gradient)).collect()
}

/// The mean of the clients' gradients.
pub fn mean_gradient(model: &impl Model, weights: &[f32], population: &impl Clients, clients: &[u64]) -> Vec<f32> {
    let add = |sum: &mut [f32], more: &[f32]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    let sum = model.fold_gradients(
        weights,
        population,
        clients,
        || vec![0.0f32; weights.len()],
        |sum, client| {
            add(sum, client.gradient);
            Ok(())
        },
        |sum, more| {
            add(sum, &more);
            Ok(())
        },
    );
    let scale = 1.0 / clients.len().max(1) as f32;
    sum.unwrap().into_iter().map(|sum| sum * scale).collect()
}
