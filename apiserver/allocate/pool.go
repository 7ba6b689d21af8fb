package allocate

import "math/bits"

// Pool is a set of numbers from 0 to Size-1 of which some are taken. A part at the beginning is given
// away last, so that it stays free for clients that name what they want.
type Pool struct {
	size, low int
	taken     []uint64
}

// NewPool returns a pool of size numbers, all free; the first low of them are given away last.
// 0 <= low <= size.
func NewPool(size, low int) *Pool {
	return &Pool{size: size, low: low, taken: make([]uint64, (size+63)/64)}
}

// Take takes a number; false says that it was taken before or isn't in the pool.
func (p *Pool) Take(n int) bool {
	if n < 0 || n >= p.size || p.Has(n) {
		return false
	}
	p.taken[n/64] |= 1 << (n % 64)
	return true
}

// Has reports whether the number is taken.
func (p *Pool) Has(n int) bool {
	return n >= 0 && n < p.size && p.taken[n/64]&(1<<(n%64)) != 0
}

// Next takes the first free number from a place on that pick chooses (0 <= pick(n) < n), around the
// upper part of the pool and, when that is full, around the lower one; false says that all are taken.
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

// lowPart is how many numbers of a range are kept for clients that name one: a share of it within bounds,
// or none if the range has no more than the least (K KEP-3070, KEP-3668).
func lowPart(size, share, least, most int) int {
	if size <= least {
		return 0
	}
	return min(max(size/share, least), most)
}
