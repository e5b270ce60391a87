"""A small project that the scripted strong model works on: files long enough to fill a window."""

from pathlib import Path

FIXES = {"totals": "total += row.cents", "parse": "maxsplit=2", "report": "width=12"}
"""By module, what its source must hold for its checks to pass."""
CHECK = """\
#!/bin/sh
# Prints what a test runner would: a trace for each module that is not mended yet.
failed=0
check() {
  if grep -q -e "$2" "src/$1.py" 2>/dev/null; then echo "checks of $1 ........ ok"; return; fi
  failed=$((failed + 1))
  echo "FAILED checks of $1: '$2' expected"
  head -n 40 "src/$1.py" 2>/dev/null | sed "s/^/$1 | /"
}
check totals "total += row.cents"
check parse "maxsplit=2"
check report "width=12"
if [ -e src/export.py ]; then check export "newline=''"; check export "quoting=ALL"; fi
if [ -e .renamed ]; then check totals "by_ledger_account"; fi
echo "$failed failed"
[ "$failed" = 0 ]
"""


def source(name: str, functions: int, special: str = "") -> str:
    """A module of so many functions; `special` is a line of the third."""
    lines = [f'"""The {name} of a ledger."""', ""]
    for number in range(functions):
        lines += [
            "",
            f"def {name}_{number}(rows, limit={number * 7 + 3}):",
            f'    """The {name} number {number} of the rows of one account."""',
            f"    chosen = [row for row in rows if row.account % {number + 2} == {number % 3}]",
            f"    {special}" if special and number == 2 else f"    floor = limit - {number * 5}",
            f"    return sorted(chosen, key=lambda row: row.day)[:limit + {number}]",
            "",
        ]
    return "\n".join(lines) + "\n"


def make(work: Path) -> None:
    """The project as the session finds it: three modules have a fault."""
    for folder in ("src", "docs"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    for name, functions, special in (
        ("model", 24, "cents = round(amount * 100)"),
        ("totals", 28, "total += row.amount"),
        ("parse", 32, "head, rest = line.split(maxsplit=1)"),
        ("report", 28, "cell = str(total).rjust(10)"),
    ):
        (work / "src" / f"{name}.py").write_text(source(name, functions, special))
    (work / "check.sh").write_text(CHECK)
    (work / "README.md").write_text(
        "# Ledger\n\n" + "\n".join(f"{n}. `{n:03}` posts row {n} of a day." for n in range(60))
    )
    (work / "docs" / "format.md").write_text(
        "\n".join(f"Field {n}: column {n * 4}, {n % 9 + 1} characters wide." for n in range(700))
    )
