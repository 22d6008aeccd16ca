//! Checks that are known to fail, each with its cause.
//!
//! A miss is shown as a miss, never as a pass; it does not make the validation fail, so that what
//! fails anew is seen. A check that passes again is reported, and its entry should go.

/// A known miss.
struct Miss {
    case: &'static str,
    /// What the quantity's name begins with.
    quantity: &'static str,
    reason: &'static str,
}

const MISSES: &[Miss] = &[];

/// Why a check of a case is known to fail; `None` if it is not.
pub(super) fn reason(case: &str, quantity: &str) -> Option<&'static str> {
    let miss = MISSES.iter().find(|miss| miss.case == case && quantity.starts_with(miss.quantity))?;
    Some(miss.reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::cases;

    #[test]
    fn every_miss_belongs_to_a_case_and_has_a_cause() {
        for miss in MISSES {
            assert!(cases().iter().any(|case| case.name == miss.case), "there is no case {}", miss.case);
            assert!(miss.reason.ends_with('.'), "{}", miss.case);
        }
    }
}
