package memory

import (
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// Least is the minimum of bytes for requests: no large object could be written with less.
	Least = 16 << 20
	// usual is enough for large requests: a CustomResourceDefinition of 1 MB, or a list of 25 MB.
	usual = 256 << 20
	// encodings is enough for those of 100,000 objects of 1 KiB.
	encodings = 128 << 20
	// unknown is the assumed memory of the machine if it can't be determined.
	unknown = 4 << 30
)

// The sources of a limit.
const (
	ByDefault = "default"
	ByMachine = "machine"
	ByCgroup  = "cgroup"
	ByRuntime = "GOMEMLIMIT"
)

// Limit is how many bytes the process may use, and the source of that limit.
type Limit struct {
	Bytes int64
	By    string
}

// Available is Find for this process.
func Available() Limit { return Find(debug.SetMemoryLimit(-1), os.DirFS("/")) }

// ForRequests is how many bytes of l requests may use by default: a quarter, or half where a quarter is not enough for
// large requests.
func (l Limit) ForRequests() int64 { return max(l.Bytes/4, min(l.Bytes/2, usual), Least) }

// ForEncodings is how many bytes of l the encodings of objects that are kept may use.
func (l Limit) ForEncodings() int64 { return min(l.Bytes/16, encodings) }

// Find returns the minimum of the Go runtime's limit (math.MaxInt64 for none), the limits of the process's
// cgroups and of their parents, and the machine's memory. root is the file system.
func Find(runtime int64, root fs.FS) Limit {
	found := Limit{unknown, ByDefault}
	if n := machineMemory(root); n > 0 {
		found = Limit{n, ByMachine}
	}
	if n := groupMemory(root); n > 0 && n < found.Bytes {
		found = Limit{n, ByCgroup}
	}
	if runtime < found.Bytes {
		found = Limit{runtime, ByRuntime}
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
