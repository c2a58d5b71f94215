// Package scale runs a host of three replicas over real servers while replicas and
// servers are killed and answers are lost, and then checks what must hold whatever has
// happened. It is a test: `make scale` runs it at full size.
package scale
