package allocate

import "math/bits"

// Pool is a set of numbers from 0 to Size-1, some of which are allocated. The numbers in its lower part are allocated
// last, so that they stay free for clients that request one.
type Pool struct {
	size, low int
	taken     []uint64
}

// NewPool returns a pool of size free numbers; the first low of them are the lower part. 0 <= low <= size.
func NewPool(size, low int) *Pool {
	return &Pool{size: size, low: low, taken: make([]uint64, (size+63)/64)}
}

// Take allocates a number; false if it is allocated already or not in the pool.
func (p *Pool) Take(n int) bool {
	if n < 0 || n >= p.size || p.Has(n) {
		return false
	}
	p.taken[n/64] |= 1 << (n % 64)
	return true
}

// Has reports whether the number is allocated.
func (p *Pool) Has(n int) bool {
	return n >= 0 && n < p.size && p.taken[n/64]&(1<<(n%64)) != 0
}

// Next allocates the first free number from a random place on, which pick chooses (0 <= pick(n) < n). It searches the
// upper part of the pool and, if that is full, the lower one. It returns false if all numbers are allocated.
func (p *Pool) Next(pick func(n int) int) (int, bool) {
	for _, part := range [][2]int{{p.low, p.size}, {0, p.low}} {
		from, to := part[0], part[1]
		if from == to {
			continue
		}
		start := from + pick(to-from)
		n := p.free(start, to)
		if n < 0 {
			n = p.free(from, start)
		}
		if n >= 0 {
			return n, p.Take(n)
		}
	}
	return 0, false
}

// free returns the first free number in [from, to), or -1.
func (p *Pool) free(from, to int) int {
	for n := from; n < to; {
		word := ^p.taken[n/64] >> (n % 64)
		if word == 0 {
			n += 64 - n%64
			continue
		}
		if n += bits.TrailingZeros64(word); n < to {
			return n
		}
	}
	return -1
}

// lowPart is the size of the lower part of a range, for clients that request a number: a share of it within limits, or
// none if the range is not larger than the least (K KEP-3070, KEP-3668).
func lowPart(size, share, least, most int) int {
	if size <= least {
		return 0
	}
	return min(max(size/share, least), most)
}
