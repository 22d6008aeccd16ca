"""The list of known failures: `MODEL SEED INVARIANT REASON`, where SEED may be `*` for all."""

import pathlib


class Known:
    """One line of the list."""

    def __init__(self, model, seed, invariant, reason):
        self.model, self.seed, self.invariant, self.reason = model, seed, invariant, reason


class KnownFailures:
    def __init__(self, entries):
        self.entries = entries

    def match(self, model, seed, invariant):
        """The entry that covers a violation, or None."""
        for entry in self.entries:
            if entry.model == model and entry.invariant == invariant and entry.seed in (None, seed):
                return entry
        return None


def parse_known(text):
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        words = line.split(maxsplit=3)
        if len(words) < 4:
            raise ValueError(f"known failures, line {number}: expected MODEL SEED INVARIANT REASON")
        model, seed, invariant, reason = words
        entries.append(Known(model, None if seed == "*" else int(seed), invariant, reason))
    return KnownFailures(entries)


def read_known(path):
    path = pathlib.Path(path)
    return parse_known(path.read_text()) if path.is_file() else KnownFailures([])
