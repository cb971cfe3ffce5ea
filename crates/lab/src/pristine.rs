//! How fresh interpreters are asked: the first run of a question starts one exactly as a user's command
//! line would, the others fork interpreters that have loaded the test runner and nothing of the project.
//! Their hash seeds vary.

use flakelab_model::Isolation;

/// How many hash seeds fresh interpreters take turns with: each takes a template. With those of the
/// zygotes and of the cold baseline a whole campaign of 25 orders or more sees seven: a test that fails with every
/// third seed is missed once in 17 campaigns.
pub const FRESH_SEEDS: u32 = 4;
/// One attempt for each of them; the second, which every baseline has had, comes last.
pub const ATTEMPTS: [u32; FRESH_SEEDS as usize] = [0, 2, 3, 1];

/// The isolation of the nth run of a question.
pub fn isolation(nth: u32) -> Isolation {
    if nth == 0 {
        Isolation::Cold
    } else {
        Isolation::Fresh
    }
}

/// Cold interpreters get a hash seed for every attempt; fresh ones share a few.
pub fn hash_seed(seed: u64, isolation: Isolation, attempt: u32) -> u32 {
    let number = if isolation == Isolation::Fresh {
        attempt % FRESH_SEEDS
    } else {
        FRESH_SEEDS + attempt
    };
    let mixed =
        (seed.wrapping_add(1) ^ (u64::from(number) << 40)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 32) as u32).max(1)
}
