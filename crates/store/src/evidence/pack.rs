//! Rows in bytes: for each, how far its test is from the one before, and the outcome in the low two bits,
//! as a variable-length number. Tests that run in the order in which they first came in take one byte each.

use flakelab_model::Reported;

#[derive(Debug, Default)]
pub(super) struct Packer {
    bytes: Vec<u8>,
    /// The test that would cost least.
    expected: i64,
}

impl Packer {
    pub(super) fn push(&mut self, test: i64, outcome: Reported) {
        let distance = test.wrapping_sub(self.expected);
        let zigzag = ((distance << 1) ^ (distance >> 63)).cast_unsigned();
        // Ids are rows of a table, so the two highest bits are free.
        let mut number = (zigzag << 2) | u64::from(outcome.code());
        while number >= 0x80 {
            self.bytes.push((number as u8 & 0x7f) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
        self.expected = test + 1;
    }

    /// What was pushed since the last time.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.expected = 0;
        std::mem::take(&mut self.bytes)
    }
}

/// The rows of a part; nothing where it makes no sense.
pub(super) fn unpack(bytes: &[u8], mut row: impl FnMut(i64, Reported)) -> Option<()> {
    let (mut number, mut shift, mut expected) = (0u64, 0u32, 0i64);
    for byte in bytes {
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 != 0 {
            shift += 7;
            continue;
        }
        let zigzag = number >> 2;
        let distance = (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed());
        let test = expected.wrapping_add(distance);
        row(test, Reported::from_code(number as u8));
        expected = test.wrapping_add(1);
        (number, shift) = (0, 0);
    }
    (shift == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_take_little() {
        let mut rows: Vec<(i64, Reported)> = (1..=1000).map(|t| (t, Reported::Passed)).collect();
        rows.extend([
            (7, Reported::Failed),
            (7, Reported::Passed),
            (1 << 40, Reported::Skipped),
        ]);
        let mut packer = Packer::default();
        for (test, outcome) in &rows {
            packer.push(*test, *outcome);
        }
        let bytes = packer.take();
        assert!(bytes.len() < 1020, "{}", bytes.len());
        let mut back = Vec::new();
        assert!(unpack(&bytes, |test, outcome| back.push((test, outcome))).is_some());
        assert_eq!(back, rows);
        assert!(unpack(&[0x80], |_, _| {}).is_none());
        assert!(unpack(&[0xff; 20], |_, _| {}).is_none());
    }
}
