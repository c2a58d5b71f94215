package measure

// NightLog is the log of the story's last turn. It shows a full disk and the errors
// that followed.
const NightLog = `2026-03-02T01:58:11Z INFO  scheduler started export 4711
2026-03-02T01:58:12Z INFO  export 4711: 18230 rows
2026-03-02T02:00:03Z WARN  volume /var/lib/export is 99% full
2026-03-02T02:00:41Z ERROR write /var/lib/export/4711.csv: no space left on device
2026-03-02T02:00:41Z ERROR export 4711 failed
2026-03-02T02:05:41Z ERROR write /var/lib/export/4712.csv: no space left on device
2026-03-02T02:05:41Z ERROR export 4712 failed
2026-03-02T02:06:00Z FATAL scheduler stopped after 2 failed exports
`

// What the story's command writes, and a line of it as it must come back in the
// answer: how often, first line, last line, pattern.
const (
	groupsFile = "out/errors.tsv"
	beforeFile = "out/before.log"
	firstGroup = `2\t4\t6\t<time> ERROR write <path>: no space left on device`
)

// triage runs the skill's script over a log and keeps the lines before the
// first error, as the skill says.
const triage = "python3 scripts/top_errors.py inputs/night.log > " + groupsFile +
	" && head -n 3 inputs/night.log > " + beforeFile
