package trail

import (
	"encoding/hex"
	"hash/fnv"
)

// uid is a UID in 16 bytes. One that doesn't have the form of a UID is a hash, and somewhere else as a string. The zero
// value is an empty string.
type uid [16]byte

// uidOf returns the uid of a string. odd says that it is a hash: s does not follow from it.
func uidOf(s string) (u uid, odd bool) {
	if s == "" || u.parse(s) {
		return u, false
	}
	h := fnv.New128a()
	_, _ = h.Write([]byte(s)) // it returns no error
	return uid(h.Sum(nil)), true
}

func (u *uid) parse(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	at := 0
	for i := 0; i < len(s); {
		if s[i] == '-' {
			i++
			continue
		}
		high, ok := digit(s[i])
		low, also := digit(s[i+1])
		if !ok || !also {
			return false
		}
		u[at] = high<<4 | low
		at, i = at+1, i+2
	}
	return *u != uid{}
}

// digit is the value of a lower-case hexadecimal digit.
func digit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// String is the inverse of uidOf, unless that said odd.
func (u uid) String() string {
	if u == (uid{}) {
		return ""
	}
	out, at := make([]byte, 36), 0
	for i, n := range [...]int{4, 2, 2, 2, 6} {
		if i > 0 {
			out[2*at+i-1] = '-'
		}
		hex.Encode(out[2*at+i:], u[at:at+n])
		at += n
	}
	return string(out)
}
