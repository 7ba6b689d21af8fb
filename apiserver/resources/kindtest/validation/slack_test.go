//go:build !race

package validation

// slack is how much more may be allocated.
const slack = 1
