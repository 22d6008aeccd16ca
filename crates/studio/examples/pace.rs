//! How many frames per second the studio's engine reaches without a page, and the CPU time of a
//! frame (Linux): ticks and views of a window with many drops, in the three fast models.
//!
//! ```sh
//! cargo run --release -p sessile-studio --example pace            # or: pace surface, pane, droplet
//! ```

use std::fmt::Write as _;
use std::time::Instant;

use sessile_model::View;
use sessile_studio::{SceneSource, Session};

/// Rain on the window of many drops, in mm/h: a shower, and a cloudburst.
const RAINS: [f64; 2] = [30.0, 300.0];
/// Frames that are measured.
const FRAMES: u32 = 90;

fn main() -> Result<(), String> {
    println!(
        "| window | frames of | frames/s | CPU time of a frame | slowest frame | target |\n|---|---|---|---|---|---|"
    );
    let chosen = std::env::args().nth(1);
    let is_wanted = |model: &str| chosen.as_deref().is_none_or(|chosen| chosen == model);
    if is_wanted("surface") {
        measure("500 growing drops, surface, reproduction mode", &growing_drops(500), 30.0)?;
    }
    for model in ["pane", "droplet"].into_iter().filter(|model| is_wanted(model)) {
        for rate in RAINS {
            let name = format!("20 000 drops, {model}, rain of {rate} mm/h");
            measure(&name, &many_drops(model, 20_000, rate), 60.0)?;
        }
    }
    Ok(())
}

/// A vertical window with `count` drops of 1 to 4 µL in rows, each fed by a needle.
fn growing_drops(count: usize) -> String {
    let mut text = head("surface", "fidelity = \"paper\"\n", [220, 180]);
    for k in 0..count {
        let (column, row) = (k % 25, k / 25);
        let (x, y) = (8.0 * column as f64 - 96.0, 8.0 * row as f64 - 76.0);
        let volume = 1.0 + 3.0 * hash(k);
        let _ = write!(
            text,
            "[[drops]]\nshape = \"cap\"\non = \"window\"\ncenter = \"{x} {y} 0 mm\"\nvolume = \"{volume:.3} uL\"\n\
             contact_angle = \"80 deg\"\n[[emitters]]\nkind = \"feed\"\nat = \"{x} {y} 0.3 mm\"\nrate = \"0.3 uL/s\"\n"
        );
    }
    text
}

/// A vertical window with `count` drops of 0.05 to 12 µL, in rain of `rate` mm/h.
fn many_drops(model: &str, count: usize, rate: f64) -> String {
    let mut text = head(model, "", [1200, 1000]);
    let _ = writeln!(text, "[[emitters]]\nkind = \"rain\"\nover = \"window\"\nrate = \"{rate} mm/h\"");
    text += "velocity = \"0 -3 -3 m/s\"\n";
    let columns = 160;
    for k in 0..count {
        let (column, row) = (k % columns, k / columns);
        let (x, y) = (7.2 * column as f64 - 572.0, 7.6 * row as f64 - 474.0);
        let volume = 0.05 * 240.0_f64.powf(hash(k));
        let _ = write!(
            text,
            "[[drops]]\nshape = \"cap\"\non = \"window\"\ncenter = \"{x:.3} {y:.3} 0 mm\"\nvolume = \"{volume:.4} uL\"\n\
             contact_angle = \"80 deg\"\n"
        );
    }
    text
}

fn head(model: &str, more: &str, [width, height]: [u32; 2]) -> String {
    format!(
        "model = \"{model}\"\n{more}[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n\
         [materials.plastic]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"window\"\nmaterial = \"plastic\"\nnormal = [0, 0, 1]\nsize = \"{width} {height} mm\"\n"
    )
}

/// A number between 0 and 1 that looks random.
fn hash(k: usize) -> f64 {
    let mixed = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 24)
}

/// Runs a scene in frames of 1/`target` s, and prints a row of the table.
fn measure(name: &str, text: &str, target: f64) -> Result<(), String> {
    let source = SceneSource { name: "pace".into(), text: text.into(), folder: ".".into(), trusted: false };
    let mut session = Session::open(source, 0.2)?;
    let ticks = (1.0 / (target * session.tick_length())).round().max(1.0) as u32;
    let (mut view, mut slowest) = (View::default(), 0.0_f64);
    let (begin, spent) = (Instant::now(), cpu_seconds());
    for _ in 0..FRAMES {
        let frame = Instant::now();
        for _ in 0..ticks {
            session.tick()?;
        }
        session.view(&mut view);
        slowest = slowest.max(frame.elapsed().as_secs_f64());
    }
    let rate = f64::from(FRAMES) / begin.elapsed().as_secs_f64();
    let spent = cpu_seconds().zip(spent).map_or(0.0, |(after, before)| 1e3 * (after - before) / f64::from(FRAMES));
    let shown = view.ids.len() + view.surface.ids.len();
    let (length, slowest) = (1e3 * f64::from(ticks) * session.tick_length(), 1e3 * slowest);
    println!(
        "| {name} ({shown} at the end) | {length:.1} ms | {rate:.0} | {spent:.1} ms | {slowest:.0} ms | {target} |"
    );
    Ok(())
}

/// CPU time of all threads of this program so far, in s, in hundredths.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which is in parentheses: user and system time are the 12th and 13th field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some(0.01 * (ticks(11)? + ticks(12)?))
}
