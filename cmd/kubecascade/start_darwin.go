//go:build !linux

package main

import "time"

// processStart approximates the start of the process where there is no /proc.
func processStart() time.Time { return time.Now() }
