//! Reads files of other programs into scenes.
