#!/bin/sh
# mcp-clients.sh installs MCP's conformance suite and inspector from npm, into a
# directory that goes with it, and has TestMCPClients of cmd/satchel run them. It is
# not among the tests that must pass: it needs npm, and what npm has.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-audit --no-fund --loglevel error \
	node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0
SATCHEL_MCP_CLIENTS=$dir
export SATCHEL_MCP_CLIENTS
go test -count=1 -run '^TestMCPClients$' -v ./cmd/satchel
