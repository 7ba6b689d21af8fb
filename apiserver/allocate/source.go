package allocate

// Source is where a service's addresses and ports come from. Claim takes what a client names, Next chooses. The errors
// are worded as clients see them.
type Source interface {
	ClaimAddress(ip string) error
	NextAddress() (string, error)
	ClaimPort(port int32) error
	NextPort() (int32, error)
}

// Random takes what is free, from a place on that pick chooses: a number of n from 0 on.
func (t *Taken) Random(pick func(n int) int) Source { return &random{t, pick} }

// Sample takes nothing: what it gives need not be free (ipallocator's dryRunAllocator, portallocator's dry run).
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
	// last is the highest port so far, 0 for none.
	last int32
}

func (m *sample) ClaimAddress(ip string) error { return m.taken.ranges.Taken().claimAddress(ip) }

func (m *sample) NextAddress() (string, error) {
	return m.taken.ranges.Addresses.prefix.Addr().String(), nil
}

// ClaimPort checks only whether the port is free, as upstream does on a dry run.
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
