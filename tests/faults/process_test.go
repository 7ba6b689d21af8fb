package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1_000_000)
	}
	code := process.Run(m, nil)
	if code != 0 {
		fmt.Printf("again: make soak SUITE=faults SEED=%d ROUNDS=%d\n", *seed, *rounds)
	}
	os.Exit(code)
}

// serve starts a server on a data directory. No controller creates objects in namespaces, because the test counts the
// objects.
func serve(t *testing.T, dir string, flags ...string) *process.Server {
	t.Helper()
	return process.Start(t, append(flags, "--data-dir="+dir,
		"--controllers=*,-serviceaccount-controller,-root-ca-certificate-publisher-controller")...)
}
