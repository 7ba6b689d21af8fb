package allocate

// Source allocates a service's addresses and ports. A Claim method allocates the value that a client requests. A Next
// method chooses a value. Clients see the errors.
type Source interface {
	ClaimAddress(ip string) error
	NextAddress() (string, error)
	ClaimPort(port int32) error
	NextPort() (int32, error)
}

// Random returns a Source that allocates free values. The search starts at pick(n), which is a number below n.
func (t *Taken) Random(pick func(n int) int) Source { return &random{t, pick} }

// Sample returns a Source for dry runs. It allocates nothing, and its values need not be free (ipallocator's
// dryRunAllocator, portallocator's dry run).
func (t *Taken) Sample() Source { return &sample{taken: t} }

type random struct {
	taken *Taken
	pick  func(int) int
}

func (r *random) ClaimAddress(ip string) error { return r.taken.claimAddress(ip) }
func (r *random) NextAddress() (string, error) { return r.taken.nextAddress(r.pick) }
func (r *random) ClaimPort(port int32) error   { return r.taken.claimPort(port) }
func (r *random) NextPort() (int32, error)     { return r.taken.nextPort(r.pick) }

type sample struct {
	taken *Taken
	// last is the greatest port so far, or 0.
	last int32
}

func (m *sample) ClaimAddress(ip string) error {
	return NewTaken(m.taken.ranges, m.taken.portRange).claimAddress(ip)
}

func (m *sample) NextAddress() (string, error) {
	if len(m.taken.ranges) == 0 {
		return "", errFull
	}
	return m.taken.ranges[0].prefix.Addr().String(), nil
}

// ClaimPort only checks whether the port is free, like upstream in a dry run.
func (m *sample) ClaimPort(port int32) error {
	err := m.taken.claimPort(port)
	if err == errTakenPort {
		return err
	}
	m.last = max(m.last, port)
	return nil
}

func (m *sample) NextPort() (int32, error) {
	if m.last == 0 {
		m.last = 32768
	}
	m.last++
	return m.last, nil
}
