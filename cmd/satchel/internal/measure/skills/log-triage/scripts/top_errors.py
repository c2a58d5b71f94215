#!/usr/bin/env python3
"""Group the error lines of a log by their pattern.

usage: top_errors.py [--limit N] [FILE]

Reads FILE, or standard input without one. Prints one line for each group,
the most frequent first: count, first line number, last line number, pattern.
Exit code 0, also when there is no error; 2 for wrong usage.
"""

import argparse
import re
import sys

ERROR = re.compile(r"\b(error|fatal|panic|critical|exception|traceback)\b", re.IGNORECASE)

# What differs between two occurrences of the same problem. The order matters:
# the more specific pattern comes first.
FOLDS = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"(/[\w.@-]+){2,}"), "<path>"),
    (re.compile(r"\d+"), "<n>"),
]


def fold(line):
    for pattern, replacement in FOLDS:
        line = pattern.sub(replacement, line)
    return " ".join(line.split())[:200]


def group(lines):
    groups = {}
    for number, line in enumerate(lines, start=1):
        if not ERROR.search(line):
            continue
        entry = groups.setdefault(fold(line), [0, number, number])
        entry[0] += 1
        entry[2] = number
    return sorted(groups.items(), key=lambda item: (-item[1][0], item[1][1]))


def main():
    parser = argparse.ArgumentParser(description="Group the error lines of a log by their pattern.")
    parser.add_argument("--limit", type=int, default=20, help="print at most this many groups (default 20)")
    parser.add_argument("file", nargs="?", help="the log; standard input without one")
    args = parser.parse_args()
    try:
        log = open(args.file, encoding="utf-8", errors="replace") if args.file else sys.stdin
    except OSError as err:
        parser.error(f"cannot read {args.file}: {err.strerror}")
    with log:
        groups = group(log)
    for pattern, (count, first, last) in groups[: args.limit]:
        print(f"{count}\t{first}\t{last}\t{pattern}")
    if len(groups) > args.limit:
        print(f"({len(groups) - args.limit} more groups; raise --limit)", file=sys.stderr)


if __name__ == "__main__":
    main()
