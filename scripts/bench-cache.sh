#!/bin/sh
# Plays the scenarios of benchmark/ through Satchel and its peers and prints what
# each costs with a prompt cache. SKILLS names the directory of the skills; without
# it they are those of SATCHEL_CORPUS, or are fetched with git, once.
set -eu
cd "$(dirname "$0")/../benchmark"
commit=9d2f1ae
skills=${SKILLS:-}
if [ -z "$skills" ] && [ -n "${SATCHEL_CORPUS:-}" ]; then
	skills=$SATCHEL_CORPUS/anthropics-skills
fi
if [ -z "$skills" ]; then
	skills=.skills/chosen
	if [ ! -d "$skills" ]; then
		echo "bench-cache: fetching the skills at $commit" >&2
		rm -rf .skills
		git clone --quiet --no-checkout https://github.com/anthropics/skills .skills/all
		names=$(sed 's|^[0-9a-f]*  ||; s|/.*||' skills.sha256 | sort -u)
		for name in $names; do
			git -C .skills/all checkout --quiet "$commit" -- "skills/$name"
		done
		mv .skills/all/skills "$skills"
	fi
fi
if command -v sha256sum >/dev/null; then check=sha256sum; else check="shasum -a 256"; fi
if ! (manifest=$PWD/skills.sha256 && cd "$skills" && $check -c "$manifest") >/dev/null 2>&1; then
	echo "bench-cache: these are not the skills that the captures of benchmark/peers were made with: compare the systems that are played here only" >&2
fi
mkdir -p out
${GO:-go} run . -scenarios "${SCENARIOS:-scenarios}" -skills "$skills" -peers "${PEERS:-peers}" -json out/cache.json -html out/cache.html "$@"
echo "bench-cache: benchmark/out/cache.html shows it with charts" >&2
