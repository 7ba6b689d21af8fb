package idle

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// pageOut is madvise's MADV_PAGEOUT of Linux 5.4 and later, which syscall doesn't define. It never loses data, whatever
// is mapped at an address.
const pageOut = 21

// storeFile is the end of the path of the file that etcd's store maps into memory.
const storeFile = "/member/snap/db"

// releasePages releases the pages of etcd's store that were read, for example by compactions, and that count as the
// process' memory although the file has them. It returns how many bytes are mapped. It is no error if the kernel
// doesn't support it.
func releasePages() (mapped uintptr) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		from, to, ok := mapping(s.Text())
		if !ok {
			continue
		}
		mapped += to - from
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, pageOut)
	}
	return mapped
}

// mapping parses a line of /proc/self/maps, and reports whether it is of the store's file.
func mapping(line string) (from, to uintptr, ok bool) {
	if !strings.HasSuffix(line, storeFile) {
		return 0, 0, false
	}
	span, _, _ := strings.Cut(line, " ")
	first, last, _ := strings.Cut(span, "-")
	a, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	b, err := strconv.ParseUint(last, 16, 64)
	return uintptr(a), uintptr(b), err == nil && a < b
}
