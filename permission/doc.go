// Package permission has the settings of a host for the allowed-tools lists of loaded skills:
// the policy, how several lists are combined, and how lists match the host's tools. A [Request]
// describes a tool call to the rules of the lists.
package permission
