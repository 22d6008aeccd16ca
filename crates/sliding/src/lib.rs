//! The physics of sliding drops that the pane and droplet models share.
