// Package egress is a proxy through which a program in a sandbox without a network reaches the
// hosts of a policy, and no others.
//
// A [Policy] has the rules. [New] returns a [Proxy] for one run, which serves a listener in the
// sandbox. Programs find it by the variables that [Policy.Environment] returns. A program that
// ignores them reaches nothing, because the sandbox has no other network.
//
//   - HTTPS goes through CONNECT. The proxy checks the name that the program asks for and the
//     one that its TLS handshake names, and passes the bytes on without reading them.
//     Certificates are those of the origin.
//   - HTTP requests are made by the proxy. If only an https rule fits a host, it speaks
//     verified TLS to it.
//   - The proxy resolves names, once for each connection. It refuses addresses that are not
//     public, and connects to the address that it has checked.
//
// The proxy does not read what is inside TLS. There a program can name another host in its
// request, which matters if one server has many. A program can also send all that it knows to the
// hosts that it may reach.
package egress
