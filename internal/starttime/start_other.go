//go:build !linux && !darwin && !windows

package starttime

import "time"

// OfProcess approximates the start of the process.
func OfProcess() time.Time { return time.Now() }
