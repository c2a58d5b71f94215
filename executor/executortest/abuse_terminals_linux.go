//go:build amd64 || arm64

package executortest

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// ownTerminal defines the Python function terminal, which opens a controlling terminal for a probe.
const ownTerminal = `
import fcntl
master, slave = os.openpty()
os.setsid()
fcntl.ioctl(slave, 0x540e, 0)
`

// terminalAttacks insert input into a terminal for its next reader, or load drivers for it. The
// numbers of the calls also have bits that the kernel ignores.
var terminalAttacks = []attack{
	{name: "TIOCSTI", holds: calls, needs: injectable, without: "CLOSED(EIO) CLOSED(EPERM)", probe: ownTerminal + `
call((16, 29), slave, 0x5412, b'x')
import select
if not select.select([slave], [], [], 0)[0]: pass`},
	{name: "TIOCSTI with high bits", holds: calls, needs: injectable, without: "CLOSED(EIO) CLOSED(EPERM)", probe: ownTerminal + `
call((16, 29), slave, 0x100005412, b'x')`},
	{name: "TIOCLINUX", holds: calls, probe: ownTerminal + `reach((16, 29), slave, 0x541c, ctypes.create_string_buffer(b'\x06' + bytes(15)))`},
	{name: "TIOCLINUX with high bits", holds: calls, probe: ownTerminal + `reach((16, 29), slave, 0x10000541c, ctypes.create_string_buffer(b'\x06' + bytes(15)))`},
	{name: "TIOCSETD", holds: calls, probe: ownTerminal + `call((16, 29), slave, 0x5423, struct.pack('i', 0))`},
	{name: "the terminal of the host", holds: always, needs: openable("/dev/tty", os.O_RDWR), without: "CLOSED(ENXIO)", probe: `os.open('/dev/tty', os.O_RDWR)`},
	{name: "a console", holds: files, needs: openable("/dev/console", os.O_RDWR|unix.O_NOCTTY), without: "CLOSED(EACCES) CLOSED(ENOENT) CLOSED(EIO) CLOSED(ENODEV) CLOSED(ENXIO) CLOSED(EPERM)", probe: `os.open('/dev/console', os.O_RDWR | os.O_NOCTTY)`},
	{name: "terminals of others", holds: separate, probe: `
os.stat(T['terminal'])`},
}

// injectable reports whether the kernel lets programs insert input into a terminal.
func injectable(g *target) bool {
	legacy, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti")
	return err != nil || bytes.HasPrefix(legacy, []byte("1")) || effective(unix.CAP_SYS_ADMIN)(g)
}
