//go:build !linux

package idle

// releasePages has an effect on Linux only, where it returns how many bytes are mapped.
func releasePages() (mapped uintptr) { return 0 }
