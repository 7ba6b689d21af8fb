package invalid

import "strings"

// No sensible quantity has more characters, or more digits in its exponent, than these.
const maxQuantity, maxExponent = 256, 4

// LongNumber reports whether a text is a number that may take minutes to parse as a quantity: 1e-999999999 is a number
// with a billion digits.
func LongNumber(text string) bool {
	if strings.TrimLeft(text, "0123456789.+-eEinumkKMGTP") != "" {
		return false
	}
	i := strings.LastIndexAny(text, "eE")
	return len(text) > maxQuantity || i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > maxExponent
}
