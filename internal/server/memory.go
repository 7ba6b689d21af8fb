package server

import (
	"log/slog"
	"math"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// LeastInFlight is the minimum of bytes for requests: no large object could be written with less.
	LeastInFlight = 16 << 20
	// usualInFlight is enough for large requests: a CustomResourceDefinition of 1 MB, or a list of 25 MB.
	usualInFlight = 256 << 20
	// mostEncodings is enough for the encodings of 100,000 objects of 1 KiB.
	mostEncodings = 128 << 20
	// assumedMemory is the memory of the machine if the system does not report it.
	assumedMemory = 4 << 30
)

// memory returns the number of bytes that the process may use: the setting, or else the least of GOMEMLIMIT, a
// container's limit and the machine's memory.
func (c *Config) memory() int64 {
	if c.Memory > 0 {
		return c.Memory
	}
	limit := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}} // math.MaxInt64 for none
	metrics.Read(limit)
	least := limit[0].Value.Uint64()
	for _, source := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := source(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return assumedMemory
	}
	return int64(least)
}

// memoryInFlight returns the number of bytes that requests may use: by default a quarter of the process's memory, or
// half of it if a quarter is not enough for large requests.
func (c *Config) memoryInFlight(log *slog.Logger) int64 {
	all, n := c.memory(), c.API.MemoryInFlight
	if n == 0 {
		n = max(all/4, min(all/2, usualInFlight), LeastInFlight)
	}
	log.Info("memory", "limit", all, "requests", n)
	return n
}
