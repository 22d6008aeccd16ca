//! A small regular-expression matcher: literals, `[…]`, `(…|…)`, `?`, `*`, `+`, `\` and anchors.

/// Whether an anchored pattern matches the whole text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern = pattern.strip_prefix('^').and_then(|p| p.strip_suffix('$')).expect("anchored");
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (node, end) = alternatives(&pattern, 0);
    assert_eq!(end, pattern.len(), "unbalanced pattern");
    node.run(&text, 0, &mut |at| at == text.len())
}

enum Node {
    Set(Vec<(char, char)>),
    Sequence(Vec<Node>),
    Any(Vec<Node>),
    Repeat(Box<Node>, usize, usize),
}

fn alternatives(pattern: &[char], mut at: usize) -> (Node, usize) {
    let mut options = Vec::new();
    loop {
        let mut items = Vec::new();
        while at < pattern.len() && !"|)".contains(pattern[at]) {
            let (item, next) = repeated(pattern, at);
            items.push(item);
            at = next;
        }
        options.push(Node::Sequence(items));
        if pattern.get(at) != Some(&'|') {
            return (Node::Any(options), at);
        }
        at += 1;
    }
}

fn repeated(pattern: &[char], at: usize) -> (Node, usize) {
    let (node, next) = atom(pattern, at);
    let (low, high) = match pattern.get(next) {
        Some('?') => (0, 1),
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        _ => return (node, next),
    };
    (Node::Repeat(Box::new(node), low, high), next + 1)
}

fn atom(pattern: &[char], at: usize) -> (Node, usize) {
    match pattern[at] {
        '(' => {
            let (node, end) = alternatives(pattern, at + 1);
            assert_eq!(pattern.get(end), Some(&')'), "unbalanced group");
            (node, end + 1)
        }
        '[' => {
            let end = at + pattern[at..].iter().position(|c| *c == ']').expect("a closed set");
            let mut set = Vec::new();
            let mut i = at + 1;
            while i < end {
                let range = i + 2 < end && pattern[i + 1] == '-';
                set.push((pattern[i], if range { pattern[i + 2] } else { pattern[i] }));
                i += if range { 3 } else { 1 };
            }
            (Node::Set(set), end + 1)
        }
        '\\' => (Node::Set(vec![(pattern[at + 1], pattern[at + 1])]), at + 2),
        c => (Node::Set(vec![(c, c)]), at + 1),
    }
}

impl Node {
    /// Matches at `at` and continues with `rest`, by backtracking.
    fn run(&self, text: &[char], at: usize, rest: &mut dyn FnMut(usize) -> bool) -> bool {
        match self {
            Self::Set(set) => {
                text.get(at).is_some_and(|c| set.iter().any(|(a, b)| (a..=b).contains(&c))) && rest(at + 1)
            }
            Self::Sequence(items) => run_all(items, text, at, rest),
            Self::Any(options) => options.iter().any(|option| option.run(text, at, rest)),
            Self::Repeat(item, low, high) => repeat(item, *low, *high, text, at, rest),
        }
    }
}

fn run_all(items: &[Node], text: &[char], at: usize, rest: &mut dyn FnMut(usize) -> bool) -> bool {
    match items {
        [] => rest(at),
        [first, others @ ..] => first.run(text, at, &mut |next| run_all(others, text, next, rest)),
    }
}

fn repeat(item: &Node, low: usize, high: usize, text: &[char], at: usize, rest: &mut dyn FnMut(usize) -> bool) -> bool {
    let more = high > 0
        && item.run(text, at, &mut |next| {
            next > at && repeat(item, low.saturating_sub(1), high.saturating_sub(1), text, next, rest)
        });
    more || (low == 0 && rest(at))
}
