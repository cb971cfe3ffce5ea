//! The content of a report in 32 bytes: what tells whether it was read before.

use std::fmt;
use std::io::{self, Read};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The first 16 digits: enough to tell the runs of a project apart.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub fn digest(source: &mut impl Read) -> io::Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(Digest(*hasher.finalize().as_bytes())),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
    }
}
