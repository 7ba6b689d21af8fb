package main

import (
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// leastMemory is the minimum of --max-memory-inflight: no large object could be written with less.
	leastMemory = 16 << 20
	// unknownMemory is the assumed memory of the machine if it can't be determined.
	unknownMemory = 4 << 30
)

// memoryLimit is how many bytes the process may use, and the source of that limit.
type memoryLimit struct {
	bytes int64
	by    string
}

// findMemory returns the minimum of the Go runtime's limit (math.MaxInt64 for none), the limits of the process's
// cgroups and of their parents, and the machine's memory. root is the file system.
func findMemory(runtime int64, root fs.FS) memoryLimit {
	found := memoryLimit{unknownMemory, "default"}
	if n := machineMemory(root); n > 0 {
		found = memoryLimit{n, "machine"}
	}
	if n := groupMemory(root); n > 0 && n < found.bytes {
		found = memoryLimit{n, "cgroup"}
	}
	if runtime < found.bytes {
		found = memoryLimit{runtime, "GOMEMLIMIT"}
	}
	return found
}

// machineMemory is the machine's memory on Linux; 0 if it isn't known.
func machineMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo") // other systems have none
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// groupMemory is the minimum limit of the process's cgroups, of version 2 or 1; 0 for none. In a container the cgroup's
// path may be the host's, which doesn't exist there: the root then has the container's limit.
func groupMemory(root fs.FS) (least int64) {
	text, _ := fs.ReadFile(root, "proc/self/cgroup") // other systems have none
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		dir, file := "sys/fs/cgroup", "memory.max"
		if parts[1] != "" { // version 1
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if parts[1] != "memory" {
				continue
			}
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if n := readLimit(root, path.Join(dir, group, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// readLimit reads the file of a cgroup's limit; 0 for none. Version 1 has a huge number for none.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n > 1<<60 {
		return 0
	}
	return n
}

// limitMemory determines the available memory, sets the runtime's limit to nine tenths of the cgroup's limit unless
// GOMEMLIMIT is set (the rest is for stacks, the runtime, and unreclaimable pages of etcd's file), and returns how much
// of the memory requests may use.
func (o *options) limitMemory(log *slog.Logger) (int64, error) {
	runtime := debug.SetMemoryLimit(-1)
	m := findMemory(runtime, os.DirFS("/"))
	if m.by == "cgroup" && runtime == math.MaxInt64 {
		debug.SetMemoryLimit(m.bytes / 10 * 9)
	}
	n, err := o.memoryInFlight(m)
	log.Info("memory", "limit", m.bytes, "by", m.by, "gomemlimit", debug.SetMemoryLimit(-1), "requests", n)
	return n, err
}

// usualMemory is enough for large requests: a CustomResourceDefinition of 1 MB, or a list of 25 MB.
const usualMemory = 256 << 20

// memoryInFlight is --max-memory-inflight in bytes; the default is a quarter of the memory, or half where a quarter is
// not enough for large requests.
func (o *options) memoryInFlight(m memoryLimit) (int64, error) {
	q, err := resource.ParseQuantity(o.maxMemory)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--max-memory-inflight %q is not a quantity like 512Mi", o.maxMemory)
	case q.IsZero():
		return max(m.bytes/4, min(m.bytes/2, usualMemory), leastMemory), nil
	case q.Value() < leastMemory:
		return 0, fmt.Errorf("--max-memory-inflight %s is less than 16Mi", o.maxMemory)
	}
	return q.Value(), nil
}
