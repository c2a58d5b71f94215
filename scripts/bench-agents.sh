#!/bin/sh
# bench-agents.sh installs Codex, Claude Code and opencode from npm, into a directory that
# goes with it, and plays sessions through them and through satchel chat, each without a
# network. It prints what skills cost in each. AGENTS is a directory in which they are
# installed already. Arguments are flags of benchmark/agents.
set -eu
if [ -z "${AGENTS:-}" ]; then
	AGENTS=$(mktemp -d)
	trap 'rm -rf "$AGENTS"' EXIT
	for package in @anthropic-ai/claude-code @openai/codex opencode-ai; do
		# Without @latest npm takes a release that suits the version of Node. The programs need none.
		npm install --prefix "$AGENTS" --no-audit --no-fund --loglevel error --foreground-scripts "$package@latest" ||
			echo "bench-agents.sh: npm cannot install $package" >&2
	done
fi
go run ./benchmark/agents -bin "$AGENTS/node_modules/.bin" "$@"
