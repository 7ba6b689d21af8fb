package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

var (
	duration = flag.Duration("duration", 0, "how long faults are injected at random; 0 injects each kind once")
	seed     = flag.Uint64("seed", 1, "seed of the faults and of what clients do; 0 draws one, which is printed")
)

// self is the path of this test binary, which can also run as an etcd member.
var self string

func TestMain(m *testing.M) {
	if s := os.Getenv(memberEnv); s != "" {
		fmt.Fprintln(os.Stderr, runMember(s)) // it returns only if etcd fails
		os.Exit(1)
	}
	flag.Parse()
	var err error
	if self, err = os.Executable(); err != nil {
		panic(err)
	}
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1_000_000)
	}
	os.Exit(process.Run(m, nil))
}
