// Package egress is the one way out of a sandbox that has no network: a proxy
// that lets a program reach the hosts that it was granted, and nothing else.
//
// A [Policy] has the rules; [New] makes a [Proxy] of it, for one run, which
// serves the listener that the sandbox offers to its program. Programs find it by
// the variables that [Environment] returns. A program that ignores them reaches
// nothing: the proxy is not a filter beside a network, there is no network.
//
//   - HTTPS goes through CONNECT. The proxy checks the name that the program
//     asks for and the one that its TLS handshake names, and passes the bytes on
//     without reading them. Certificates are those of the origin.
//   - HTTP requests are made by the proxy. Where only an https rule fits a host,
//     it speaks verified TLS to it.
//   - Names are resolved here, once for each connection. Addresses that are not
//     public are refused, and the address that was checked is the one dialled.
//
// What it does not do: inside TLS a program can name another host in its request,
// which matters where one server has many; and it can send what it knows to the
// hosts that it may reach.
package egress
