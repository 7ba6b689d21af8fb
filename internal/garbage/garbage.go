package garbage

import "sync/atomic"

var handler atomic.Pointer[func()]

// Made reports that the caller has made much garbage, hundreds of KiB at least. It may wait until the garbage is
// collected, so the caller must not hold a lock.
func Made() {
	if f := handler.Load(); f != nil {
		(*f)()
	}
}

// Handle sets the function that Made calls, from any goroutine, instead of the one before; nil is none.
func Handle(f func()) {
	if f == nil {
		handler.Store(nil)
		return
	}
	handler.Store(&f)
}
