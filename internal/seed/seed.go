package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Of returns the seed for a test: 1, or the value of SEED in the environment. A SEED that is neither a number nor
// "random" fails the test, because the test would repeat another run than the intended one.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	switch s := os.Getenv("SEED"); s {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("SEED=%q is neither a number nor \"random\"", s)
		}
	}
	t.Logf("SEED=%d", seed)
	return seed
}
