//go:build amd64 || arm64

package reexec

import "syscall"

// listen opens the ports of the job on the sandbox's own loopback interface and sends the sockets to
// the Sandbox. No process in the sandbox keeps one.
func listen(job *received) {
	if len(job.Listen) == 0 {
		return
	}
	if len(job.files) == 0 {
		fail("hand out sockets", errFrame)
	}
	channel := job.files[0]
	job.files = job.files[1:]
	var sockets []int
	for _, port := range job.Listen {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, syscall.IPPROTO_TCP)
		must("open socket", err)
		must("bind socket", syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}))
		must("listen", syscall.Listen(fd, backlog))
		sockets = append(sockets, fd)
	}
	must("hand out sockets", syscall.Sendmsg(channel, []byte{'L'}, syscall.UnixRights(sockets...), nil, syscall.MSG_NOSIGNAL))
	for _, fd := range append(sockets, channel) {
		_ = syscall.Close(fd)
	}
}
