package gzipped

import "hash/crc32"

// Checksums are polynomials over GF(2) modulo that of CRC-32, with the bits reversed: the highest bit is x^0.

// times is the product of two polynomials.
func times(a, b uint32) (product uint32) {
	for bit := uint32(1) << 31; bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE*(b&1)
	}
	return product
}

// powers[i] is x^(2^i), which repeats after 32.
var powers = func() (p [32]uint32) {
	p[0] = 1 << 30 // x
	for i := range p[1:] {
		p[i+1] = times(p[i], p[i])
	}
	return p
}()

// joined is the CRC-32 of two strings one after the other, by that of each and the length of the second (zlib's
// crc32_combine).
func joined(first, second uint32, length int64) uint32 {
	shift := uint32(1) << 31               // x^0
	for i := 3; length > 0; length >>= 1 { // a byte has 2^3 bits
		if length&1 != 0 {
			shift = times(powers[i%32], shift)
		}
		i++
	}
	return times(shift, first) ^ second
}
