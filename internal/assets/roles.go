package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ControllersVariable is the environment variable that sets --controllers for one run as kube-apiserver.
const ControllersVariable = "KUBECASCADE_CONTROLLERS"

// ControllersOf returns the words of --controllers for the program that was called as arg0: those of the environment
// variable, else those of the file beside the program, else an empty slice, which disables all controllers.
func ControllersOf(arg0 string, lookup func(string) (string, bool)) ([]string, error) {
	if value, ok := lookup(ControllersVariable); ok {
		return words(value), nil
	}
	if !strings.ContainsRune(arg0, filepath.Separator) { // found by PATH
		path, err := exec.LookPath(arg0)
		if err != nil {
			return nil, fmt.Errorf("finding the program's directory: %w", err)
		}
		arg0 = path
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(arg0), controllersFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return words(string(data)), nil
}

// words splits words that are separated by commas. The result is not nil.
func words(s string) []string {
	split := []string{}
	for w := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		if w != "" {
			split = append(split, w)
		}
	}
	return split
}

// EtcdArguments returns the arguments of etcd's main function. A single member starts only after its election timeout,
// which is a second by default. EtcdArguments sets the shortest timeout that etcd accepts, unless the user has
// configured it. It sets none if there are other members, because the network to them may be slow.
func EtcdArguments(args []string, getenv func(string) string) []string {
	configured := getenv("ETCD_HEARTBEAT_INTERVAL") != "" || getenv("ETCD_ELECTION_TIMEOUT") != "" ||
		getenv("ETCD_INITIAL_CLUSTER") != "" || getenv("ETCD_DISCOVERY_ENDPOINTS") != ""
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch name {
		case "heartbeat-interval", "election-timeout", "initial-cluster", "gateway", "grpc-proxy":
			configured = true
		}
		if strings.HasPrefix(name, "discovery") {
			configured = true
		}
	}
	if configured {
		return args
	}
	return append([]string{args[0], "--heartbeat-interval=10", "--election-timeout=50"}, args[1:]...)
}
