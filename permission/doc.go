// Package permission holds what a host decides about the allowed-tools of loaded
// skills: the policy, how lists are combined, and what its tools are to them. A tool
// says with a [Request] what rules can see of a call.
package permission
