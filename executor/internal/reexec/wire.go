package reexec

// This file encodes and decodes frames. A frame is its length, 4 bytes, and a body. Numbers are
// little endian; texts and lists are preceded by their length. It is not JSON, because Go would
// initialise that package before the hook.

// Encode returns the frame of a Plan.
func (p *Plan) Encode() []byte {
	e := encoder{make([]byte, 4, 4096)}
	e.flag(p.Namespaces)
	e.text(p.Host)
	e.text(p.Hostname)
	e.steps(p.Steps)
	return e.frame()
}

// Encode returns the frame of a Job.
func (j *Job) Encode() []byte {
	e := encoder{make([]byte, 4, 8192)}
	e.number(uint64(j.Pipes))
	e.number(uint64(len(j.Listen)))
	for _, port := range j.Listen {
		e.number(uint64(port))
	}
	e.number(uint64(j.Join))
	e.steps(j.Steps)
	e.texts(j.Args)
	e.texts(j.Env)
	e.text(j.Dir)
	e.number(uint64(j.UID))
	e.number(uint64(j.GID))
	e.flag(j.Groups)
	e.flag(j.TTY)
	e.number(uint64(len(j.Limits)))
	for _, l := range j.Limits {
		e.number(uint64(l.Resource))
		e.number(l.Soft)
		e.number(l.Hard)
	}
	e.number(j.Handled)
	e.number(j.HandledNet)
	e.number(j.Scoped)
	e.number(j.Terminal)
	e.number(uint64(len(j.Rules)))
	for _, r := range j.Rules {
		e.text(r.Path)
		e.number(r.Access)
	}
	e.text(string(j.Filter))
	return e.frame()
}

// decodePlan reads the body of a frame of a Plan. It returns false for any other bytes.
func decodePlan(body []byte) (*Plan, bool) {
	d := decoder{body, true}
	p := &Plan{Namespaces: d.flag(), Host: d.text(), Hostname: d.text(), Steps: d.steps()}
	return p, d.done()
}

// decodeJob reads the body of a frame of a Job. It returns false for any other bytes.
func decodeJob(body []byte) (*Job, bool) {
	d := decoder{body, true}
	j := &Job{Pipes: uint32(d.number())}
	for range d.count() {
		j.Listen = append(j.Listen, uint16(d.number()))
	}
	j.Join, j.Steps, j.Args, j.Env, j.Dir = uint32(d.number()), d.steps(), d.texts(), d.texts(), d.text()
	j.UID, j.GID, j.Groups, j.TTY = uint32(d.number()), uint32(d.number()), d.flag(), d.flag()
	for range d.count() {
		j.Limits = append(j.Limits, Limit{uint32(d.number()), d.number(), d.number()})
	}
	j.Handled, j.HandledNet, j.Scoped, j.Terminal = d.number(), d.number(), d.number(), d.number()
	for range d.count() {
		j.Rules = append(j.Rules, Rule{d.text(), d.number()})
	}
	j.Filter = []byte(d.text())
	return j, d.done()
}

// encoder appends values to a frame.
type encoder struct{ b []byte }

func (e *encoder) number(n uint64) {
	for range 8 {
		e.b = append(e.b, byte(n))
		n >>= 8
	}
}

func (e *encoder) flag(f bool) {
	if f {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.number(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) steps(list []Step) {
	e.number(uint64(len(list)))
	for _, s := range list {
		e.number(uint64(s.Op))
		e.text(s.Source)
		e.text(s.Target)
		e.text(s.Data)
		e.number(s.Flags)
	}
}

// frame puts the length before the body.
func (e *encoder) frame() []byte {
	n := uint32(len(e.b) - 4)
	e.b[0], e.b[1], e.b[2], e.b[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	return e.b
}

// decoder reads the body of a frame. After the end it returns zero values and sets ok to false.
type decoder struct {
	b  []byte
	ok bool
}

func (d *decoder) number() (n uint64) {
	if len(d.b) < 8 {
		d.b, d.ok = nil, false
		return 0
	}
	for i := 7; i >= 0; i-- {
		n = n<<8 | uint64(d.b[i])
	}
	d.b = d.b[8:]
	return n
}

func (d *decoder) flag() bool { return d.number() == 1 }

// count reads the length of a list. It accepts none that the rest of the body cannot hold: each
// entry takes at least 8 bytes.
func (d *decoder) count() uint64 {
	n := d.number()
	if n > uint64(len(d.b)/8) {
		d.b, d.ok = nil, false
		return 0
	}
	return n
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.b, d.ok = nil, false
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) texts() []string {
	var list []string
	for range d.count() {
		list = append(list, d.text())
	}
	return list
}

func (d *decoder) steps() []Step {
	var list []Step
	for range d.count() {
		list = append(list, Step{Op(d.number()), d.text(), d.text(), d.text(), d.number()})
	}
	return list
}

// done reports whether the whole body was read without an error.
func (d *decoder) done() bool { return d.ok && len(d.b) == 0 }
