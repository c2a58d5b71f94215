//go:build amd64 || arm64

package reexec

import "syscall"

// errFrame is returned for a malformed message.
const errFrame = syscall.EBADMSG

// send writes a message to the Sandbox. It ignores errors: if the Sandbox has closed the socket,
// obey ends this process.
func send(kind byte, text string) {
	body := append([]byte{0, 0, 0, 0, kind}, text...)
	n := len(body) - 4
	body[0], body[1], body[2], body[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	for len(body) > 0 {
		n, err := syscall.Write(Control, body)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return
		}
		body = body[n:]
	}
}

// receivePlan reads the Plan.
func receivePlan() *Plan {
	body, _ := receive()
	plan, ok := decodePlan(body)
	if !ok {
		fail("read plan", errFrame)
	}
	return plan
}

// receiveJob reads the Job and its descriptors.
func receiveJob() *received {
	body, files := receive()
	job, ok := decodeJob(body)
	if !ok {
		fail("read job", errFrame)
	}
	return &received{Job: job, files: files}
}

// received is a Job with the descriptors that came with it.
type received struct {
	*Job
	files []int // descriptors that are not used yet
	pipes []int // the program's pipes, after its streams
}

// streams is how many of the descriptors are the program's streams.
const streams = 3

// adoptStreams makes the first descriptors of the job the program's streams, and
// keeps the following ones for its pipes.
func adoptStreams(job *received) {
	if len(job.files) < streams {
		fail("adopt streams", errFrame)
	}
	for i, fd := range job.files[:streams] {
		must("adopt streams", syscall.Dup3(fd, i, 0))
		_ = syscall.Close(fd)
	}
	job.files = job.files[streams:]
	if uint64(job.Pipes) > uint64(len(job.files)) {
		fail("adopt pipes", errFrame)
	}
	job.pipes, job.files = job.files[:job.Pipes], job.files[job.Pipes:]
}

// joinGroups puts this thread, and so the program, into its cgroups. In a sandbox
// the program then sees them as the root of all cgroups.
func joinGroups(job *received, namespaces bool) {
	if uint64(job.Join) > uint64(len(job.files)) {
		fail("join cgroup", errFrame)
	}
	for _, fd := range job.files[:job.Join] {
		_, err := syscall.Write(fd, []byte("0"))
		must("join cgroup", err)
		_ = syscall.Close(fd)
	}
	job.files = job.files[job.Join:]
	if namespaces {
		must("unshare cgroups", rawSyscall(syscall.SYS_UNSHARE, cloneNewCgroup, 0, 0))
	}
}

// receive reads a frame. At the end of the socket it exits without an error: the Sandbox was closed,
// or the host has ended, while this process waited.
func receive() (body []byte, files []int) {
	var head [4]byte
	oob := make([]byte, syscall.CmsgSpace(MaxFiles*4))
	n, oobn := 0, 0
	for {
		var err error
		n, oobn, _, _, err = syscall.Recvmsg(Control, head[:], oob, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		must("read control", err)
		break
	}
	if n == 0 {
		syscall.Exit(0)
	}
	readFull(head[n:])
	files = descriptors(oob[:oobn])
	size := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16 | uint32(head[3])<<24
	if size > MaxFrame {
		fail("read control", errFrame)
	}
	body = make([]byte, size)
	readFull(body)
	return body, files
}

// readFull fills b from the socket, and exits at its end.
func readFull(b []byte) {
	for len(b) > 0 {
		n, err := syscall.Read(Control, b)
		if err == syscall.EINTR {
			continue
		}
		must("read control", err)
		if n == 0 {
			syscall.Exit(0)
		}
		b = b[n:]
	}
}

// descriptors returns the files that came with a message.
func descriptors(oob []byte) []int {
	messages, err := syscall.ParseSocketControlMessage(oob)
	must("read descriptors", err)
	var files []int
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		must("read descriptors", err)
		files = append(files, fds...)
	}
	return files
}

// obey handles the messages of the Sandbox while the program runs. When the Sandbox closes the
// socket, it ends this process. In a process namespace that ends all other processes too; without
// one, obey kills the program's group first.
func obey(program int, namespaces bool) {
	var b [1]byte
	for {
		n, err := syscall.Read(Control, b[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			if !namespaces {
				_ = syscall.Kill(-program, syscall.SIGKILL)
			}
			syscall.Exit(0)
		}
		if b[0] == Terminate {
			_ = syscall.Kill(-program, syscall.SIGTERM)
		}
	}
}
