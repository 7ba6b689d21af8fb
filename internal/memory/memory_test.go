package memory

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestFind(t *testing.T) {
	const gib = 1 << 30
	files := func(named ...string) fstest.MapFS {
		m := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       16777216 kB\nMemFree:        1 kB\n")}}
		for i := 0; i < len(named); i += 2 {
			m[named[i]] = &fstest.MapFile{Data: []byte(named[i+1])}
		}
		return m
	}
	for what, c := range map[string]struct {
		runtime int64
		root    fstest.MapFS
		want    Limit
	}{
		"no Linux":   {math.MaxInt64, fstest.MapFS{}, Limit{unknown, "default"}},
		"no group":   {math.MaxInt64, files(), Limit{16 * gib, "machine"}},
		"GOMEMLIMIT": {gib, files(), Limit{gib, "GOMEMLIMIT"}},
		"version 2": {
			math.MaxInt64, files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "2147483648\n"),
			Limit{2 * gib, "cgroup"},
		},
		"no limit": {
			math.MaxInt64, files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n"),
			Limit{16 * gib, "machine"},
		},
		"a parent's": {
			math.MaxInt64,
			files(
				"proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/memory.max",
				"3221225472\n",
			),
			Limit{3 * gib, "cgroup"},
		},
		"the least": {
			math.MaxInt64,
			files(
				"proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "4294967296\n", "sys/fs/cgroup/a/memory.max",
				"3221225472\n",
			),
			Limit{3 * gib, "cgroup"},
		},
		"a container": {
			math.MaxInt64, files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1073741824\n"),
			Limit{gib, "cgroup"},
		},
		"another name space": {
			math.MaxInt64, files("proc/self/cgroup", "0::/../../x\n", "sys/fs/cgroup/memory.max", "1073741824\n"),
			Limit{gib, "cgroup"},
		},
		"version 1": {
			math.MaxInt64,
			files(
				"proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes",
				"1073741824\n",
			),
			Limit{gib, "cgroup"},
		},
		"version 1, a container": {math.MaxInt64,
			files("proc/self/cgroup", "4:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
			Limit{gib, "cgroup"}},
		"version 1, no limit": {
			math.MaxInt64,
			files("proc/self/cgroup", "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
			Limit{16 * gib, "machine"},
		},
		"more than there is": {
			math.MaxInt64, files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "99999999999999\n"),
			Limit{16 * gib, "machine"},
		},
		"both": {
			gib, files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "2147483648\n"), Limit{gib, "GOMEMLIMIT"},
		},
		"GOMEMLIMIT too large": {
			8 * gib, files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "2147483648\n"),
			Limit{2 * gib, "cgroup"},
		},
		"broken": {
			math.MaxInt64, files("proc/self/cgroup", "x\n::\n0::/\n", "sys/fs/cgroup/memory.max", "lots"),
			Limit{16 * gib, "machine"},
		},
	} {
		if got := Find(c.runtime, c.root); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

func TestForRequests(t *testing.T) {
	for bytes, want := range map[int64]int64{
		32 << 20: Least, 512 << 20: 256 << 20, 256 << 20: 128 << 20, 2 << 30: 512 << 20, 8 << 30: 2 << 30,
	} {
		if got := (Limit{bytes, ByCgroup}).ForRequests(); got != want {
			t.Errorf("of %d MiB: %d MiB, want %d", bytes>>20, got>>20, want>>20)
		}
	}
}
