//! Runs the fuzz target named by the environment variable `SESSILE_FUZZ_TARGET` (see
//! `sessile_fuzzing::TARGETS`) on the inputs of libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static NAME: LazyLock<String> =
    LazyLock::new(|| std::env::var("SESSILE_FUZZ_TARGET").expect("SESSILE_FUZZ_TARGET names a target"));

fuzz_target!(|data: &[u8]| sessile_fuzzing::run_target(&NAME, data));
