//! A reproducible stream of random numbers.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// ChaCha8 keyed by the seed and a purpose, so that asking for more of one kind of order never
/// changes another. Bounded numbers and shuffling are written out here because a library may change
/// its sampling between versions, and a seed must mean the same orders for ever.
#[derive(Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (at, byte) in purpose.bytes().enumerate() {
            key[8 + at % 24] ^= byte;
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `bound`, by rejection.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no member");
        let zone = u64::MAX - u64::MAX % bound;
        loop {
            let value = self.draw();
            if value < zone {
                return value % bound;
            }
        }
    }

    /// Fisher-Yates, from the end.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            things.swap(at, other);
        }
    }
}
