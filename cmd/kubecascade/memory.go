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
	// leastMemory is the least of --max-memory-inflight: no large object could be written with less.
	leastMemory = 16 << 20
	// unknownMemory is taken for the machine's memory where it can't be found out.
	unknownMemory = 4 << 30
)

// memoryLimit is how many bytes a process may use, and what says so.
type memoryLimit struct {
	bytes int64
	by    string
}

// findMemory is the least of the limit that Go's runtime has (math.MaxInt64 for none), the limits of the process's
// control groups and of those around them, and the machine's memory. root is the file system.
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

// machineMemory is that of Linux; 0 if it isn't known.
func machineMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo") // there is none elsewhere
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// groupMemory is the least limit of the process's control groups, of version 2 or 1; 0 for none. In a container the
// group's path may be that on the host, which isn't there: the root has the container's limit then.
func groupMemory(root fs.FS) (least int64) {
	text, _ := fs.ReadFile(root, "proc/self/cgroup") // there is none elsewhere
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

// readLimit reads the file of a group's limit; 0 for none. Version 1 says so by a number that no machine has.
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

// limitMemory finds out how much memory there is, has the collector keep below nine tenths of what a control group
// allows (the rest is for stacks, the runtime, and pages of etcd's file that can't be reclaimed), unless GOMEMLIMIT
// says something else, and returns how much of it requests may take.
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

// usualMemory is enough for large requests: of a CustomResourceDefinition of 1 MB, or a list of 25 MB.
const usualMemory = 256 << 20

// memoryInFlight is --max-memory-inflight in bytes, by default a quarter of what there is, or half where a quarter is
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
