//! Slots of drops.

use serde::{Deserialize, Serialize};

sessile_numerics::typed_index! {
    /// Slot of a drop: its place in a model's arrays while it exists; reused afterwards.
    #[derive(Serialize, Deserialize)]
    pub struct SlotIndex;
}
