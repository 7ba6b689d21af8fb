//go:build !linux && !darwin && !windows

package main

import "time"

// processStart approximates the start of the process.
func processStart() time.Time { return time.Now() }
