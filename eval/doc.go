// Package eval measures skills by the requests of their authors: whether a catalog finds a skill,
// whether a model loads it, and whether it helps.
//
// A [Suite] holds the requests. [OfSkills] reads the files that skills bring, evals/evals.json and
// evals/eval_queries.json, and [ReadFile] reads one file. [Run] asks them in one of three modes:
//
//   - [Offline] needs no model. It searches the catalog for each query as "satchel search" and
//     the suggestions of an agent do.
//   - [Trigger] plays each query several times with a model, and counts the trials in which the
//     model loads the skill.
//   - [Outcome] plays each eval with and without the skill, and checks the results.
//
// The [Report] encodes as JSON, and it has methods for tables and JUnit XML. The command
// "satchel eval" is this package with flags.
package eval
