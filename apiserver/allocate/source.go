package allocate

// Source allocates a service's addresses and ports. A Claim method allocates the value that a client requests. A Next
// method chooses a value. Clients see the errors.
type Source interface {
	ClaimAddress(ip string) error
	NextAddress() (string, error)
	ClaimPort(port int32) error
	NextPort() (int32, error)
}

// Sample returns a Source for dry runs: of the first address of the range, and of ports from 32769, or after the ports
// that a client requests. It allocates nothing, and only requested ports must be free (ipallocator's dryRunAllocator,
// portallocator's dry run).
func (t *Taken) Sample() Source { return &sample{taken: t} }

type sample struct {
	taken *Taken
	// last is the greatest port so far, or 0.
	last int32
}

func (m *sample) ClaimAddress(ip string) error {
	return NewTaken(m.taken.ranges, m.taken.portRange, nil).ClaimAddress(ip)
}

func (m *sample) NextAddress() (string, error) {
	if len(m.taken.ranges) == 0 {
		return "", errFull
	}
	return m.taken.ranges[0].prefix.Addr().String(), nil
}

// ClaimPort only checks whether the port is free, like upstream in a dry run.
func (m *sample) ClaimPort(port int32) error {
	err := m.taken.ClaimPort(port)
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
