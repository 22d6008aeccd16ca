//! Self-contained HTML pages: the style sheet is inside, for phones and dark mode too.

use crate::escape::xml::text as escape;

/// A page with a title (plain text) and a body (HTML).
///
/// The style sheet knows `section`, `figure`, tables (in `div.scroll`, with `.num` cells), `.soft`
/// text, badges, `div.tiles` of small images, and the plots of [`crate::plot`].
pub fn html_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title)
    )
}

/// Colors are set once as variables, for light and for dark; the series colors keep apart for
/// color-blind readers too.
const STYLE: &str = r"
:root { --bg:#fbfcfd; --card:#fff; --ink:#1b2430; --soft:#5c6875; --line:#dfe5ea; --grid:#eceff2; --link:#0b62a4;
  --pass:#17693a; --passbg:#e2f4e8; --fail:#a3201d; --failbg:#fbe4e2;
  --c0:#0b6bb3; --c1:#c2500c; --c2:#1a7f4b; --c3:#8a3ea8; --c4:#7a6400; --c5:#b0316a; }
@media (prefers-color-scheme: dark) { :root { --bg:#10151b; --card:#171e26; --ink:#e4eaf0; --soft:#98a5b2; --line:#2a343f; --grid:#222b35;
  --link:#6db8f2; --pass:#7fd6a0; --passbg:#14301f; --fail:#ff9d94; --failbg:#3c1917;
  --c0:#5db0f0; --c1:#f59a5b; --c2:#5fcf95; --c3:#cf93ea; --c4:#d9c04a; --c5:#f287b4; } }
* { box-sizing:border-box }
body { margin:0; background:var(--bg); color:var(--ink); font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif }
main { max-width:960px; margin:0 auto; padding:40px 20px 80px }
h1 { font-size:30px; line-height:1.2; margin:0 0 6px; letter-spacing:-.01em }
h2 { font-size:20px; margin:0 0 4px; display:flex; gap:10px; align-items:baseline; flex-wrap:wrap }
.lead { font-size:18px; margin:0 0 24px } .soft { color:var(--soft); font-weight:400 }
section { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:22px 24px; margin-top:24px }
section p { margin:0 0 14px; max-width:75ch } .reason { color:var(--fail) }
.scroll { overflow-x:auto } table { border-collapse:collapse; width:100%; font-size:15px }
th { text-align:left; color:var(--soft); font-weight:500; border-bottom:1px solid var(--line); padding:6px 12px 6px 0; white-space:nowrap }
td { border-bottom:1px solid var(--grid); padding:6px 12px 6px 0; vertical-align:baseline }
.num { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap } a { color:var(--link) }
.badge { font-size:12px; font-weight:600; padding:1px 8px; border-radius:99px } .pass { color:var(--pass); background:var(--passbg) }
.fail { color:var(--fail); background:var(--failbg) }
figure { margin:20px 0 0; max-width:720px } .tiles { display:grid; gap:14px; grid-template-columns:repeat(auto-fill,minmax(160px,1fr)) }
.tiles figure { margin:0 } .tiles img { width:100%; height:auto; display:block; border-radius:6px } pre { overflow-x:auto; font-size:13px } figcaption { color:var(--soft); font-size:14px; margin-top:4px }
svg { width:100%; height:auto; display:block } svg text { font-family:inherit; fill:var(--ink); font-size:12px }
svg .tick { fill:var(--soft); font-size:11.5px } svg .grid { stroke:var(--grid); fill:none } svg .axis { stroke:var(--soft); fill:none }
svg .line { fill:none; stroke-width:2; stroke-linejoin:round } svg .expected { stroke-dasharray:6 4 }
svg .s0 { stroke:var(--c0) } svg .s1 { stroke:var(--c1) } svg .s2 { stroke:var(--c2) } svg .s3 { stroke:var(--c3) }
svg .s4 { stroke:var(--c4) } svg .s5 { stroke:var(--c5) }
svg .dot { stroke:none } svg .dot.s0 { fill:var(--c0) } svg .dot.s1 { fill:var(--c1) } svg .dot.s2 { fill:var(--c2) }
svg .dot.s3 { fill:var(--c3) } svg .dot.s4 { fill:var(--c4) } svg .dot.s5 { fill:var(--c5) }
";
