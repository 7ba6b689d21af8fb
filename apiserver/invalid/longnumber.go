package invalid

import "strings"

// maxQuantity and maxExponent are the maximum numbers of characters, and of digits in the exponent, of a quantity.
const maxQuantity, maxExponent = 256, 4

// LongNumber reports whether a text is a number that may take minutes to parse as a quantity: 1e-999999999 has a
// billion digits.
func LongNumber(text string) bool {
	if strings.TrimLeft(text, "0123456789.+-eEinumkKMGTP") != "" {
		return false
	}
	i := strings.LastIndexAny(text, "eE")
	return len(text) > maxQuantity || i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > maxExponent
}
