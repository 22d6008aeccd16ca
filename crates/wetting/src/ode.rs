//! Adaptive integration of small systems of ordinary differential equations.
//!
//! Dormand and Prince's embedded pair of orders 5 and 4 (dormand1980, table 2): the fifth-order
//! value is kept, the difference to the fourth-order one is the error estimate, and the next step
//! is scaled by its fifth root.

use sessile_numerics::math;

/// Stage times.
const C: [f64; 5] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];
/// Stage weights.
const A: [[f64; 5]; 5] = [
    [0.2, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
];
/// Weights of the fifth-order value.
const B: [f64; 6] = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
/// Fifth-order minus fourth-order weights.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// Largest number of steps; a profile needs a few hundred.
const MAX_STEPS: usize = 200_000;

/// Accuracy of an integration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// Error per step allowed, relative to a component's size (or its floor, where that is larger).
    pub relative: f64,
    /// Longest step.
    pub max_step: f64,
}

/// Integrates `y` from `from` to `to` under dy/dx = `rhs(x, y)`, and calls `on_step(x, y)` after
/// every accepted step.
///
/// `floor` are the sizes below which components need no relative accuracy. `step` is the first step
/// tried; on return it is the last one proposed, so that integrations can be chained.
#[expect(clippy::too_many_arguments, reason = "a leg's ends, state and accuracy are all its caller's")]
pub(crate) fn integrate<const N: usize>(
    rhs: impl Fn(f64, &[f64; N]) -> [f64; N],
    from: f64,
    to: f64,
    y: &mut [f64; N],
    floor: &[f64; N],
    step: &mut f64,
    accuracy: Accuracy,
    mut on_step: impl FnMut(f64, &[f64; N]),
) {
    let mut x = from;
    let mut slope = rhs(x, y);
    for _ in 0..MAX_STEPS {
        let left = to - x;
        if left <= 0.0 {
            break;
        }
        let last = *step >= left;
        let h = step.min(left).min(accuracy.max_step);
        let ends = last && h == left;
        let mut k = [slope; 7];
        for stage in 0..5 {
            let mut at = *y;
            for i in 0..N {
                let mut sum = 0.0;
                for (weight, earlier) in A[stage].iter().zip(&k).take(stage + 1) {
                    sum += weight * earlier[i];
                }
                at[i] += h * sum;
            }
            k[stage + 1] = rhs(x + C[stage] * h, &at);
        }
        let mut next = *y;
        for i in 0..N {
            let mut sum = 0.0;
            for (weight, stage) in B.iter().zip(&k) {
                sum += weight * stage[i];
            }
            next[i] += h * sum;
        }
        k[6] = rhs(x + h, &next);
        let mut error: f64 = 0.0;
        for i in 0..N {
            let mut sum = 0.0;
            for (weight, stage) in E.iter().zip(&k) {
                sum += weight * stage[i];
            }
            let scale = accuracy.relative * y[i].abs().max(next[i].abs()).max(floor[i]);
            error = error.max((h * sum).abs() / scale);
        }
        let factor = if error.is_finite() { (0.9 * math::powf(error, -0.2)).clamp(0.2, 5.0) } else { 0.2 };
        if error <= 1.0 {
            x = if ends { to } else { x + h };
            *y = next;
            slope = k[6];
            on_step(x, y);
            // A step cut short by the end of the interval does not reduce the one proposed before
            // it.
            *step = if ends { step.max(h * factor) } else { h * factor };
        } else {
            *step = h * factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_closes_to_the_stated_accuracy() {
        let accuracy = Accuracy { relative: 1e-12, max_step: f64::INFINITY };
        let (mut y, mut step, mut steps) = ([1.0, 0.0], 0.1, 0);
        let turn = std::f64::consts::TAU;
        integrate(|_, y| [-y[1], y[0]], 0.0, turn, &mut y, &[1e-2; 2], &mut step, accuracy, |_, _| steps += 1);
        let error = (y[0] - 1.0).hypot(y[1]);
        assert!(error < 1e-9, "missed the start by {error:.1e} after {steps} steps");
        assert!(steps < 2000, "{steps} steps for one turn");
    }
}
