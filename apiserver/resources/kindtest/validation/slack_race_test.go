//go:build race

package validation

// slack is how much more may be allocated: with the race detector sync.Pool forgets at random.
const slack = 20
