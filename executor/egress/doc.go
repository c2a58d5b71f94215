// Package egress gives a sandbox without a network one way out: a proxy that lets a program
// reach the hosts that it was granted, and nothing else.
//
// A [Policy] has the rules. [New] makes a [Proxy] of it for one run, which serves the listener
// that the sandbox offers to its program. Programs find it by the variables that
// [Policy.Environment] returns. A program that ignores them reaches nothing, because the
// sandbox has no other network.
//
//   - HTTPS goes through CONNECT. The proxy checks the name that the program asks for and the
//     one that its TLS handshake names, and passes the bytes on without reading them.
//     Certificates are those of the origin.
//   - HTTP requests are made by the proxy. If only an https rule fits a host, it speaks
//     verified TLS to it.
//   - Names are resolved here, once for each connection. Addresses that are not public are
//     refused, and the address that was checked is the one dialled.
//
// The proxy does not look into TLS. There a program can name another host in its request, which
// matters if one server has many. A program can also send what it knows to the hosts that it
// may reach.
package egress
