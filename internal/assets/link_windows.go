package assets

import "os"

const extension = ".exe"

// ensureLink makes path a hard link to target, or a copy on another volume: symbolic links need a privilege. A running
// program can't be replaced: then Ensure fails, unless the file is another link to the same program.
func ensureLink(path, target string) error {
	have, err := os.Stat(path)
	want, wantErr := os.Stat(target)
	if wantErr != nil {
		return wantErr
	}
	same := err == nil && have.Size() == want.Size() && !have.ModTime().Before(want.ModTime())
	if err == nil && (os.SameFile(have, want) || same) {
		return nil
	}
	return swap(path, func(tmp string) error {
		if os.Link(target, tmp) == nil {
			return nil
		}
		return copyFile(tmp, target)
	})
}

// replaceable reports whether nothing is lost if path is replaced. It can't determine which program a file is a copy
// of.
func replaceable(string) bool { return true }

// targetIn returns the target of a link in dir to the program.
func targetIn(_, program string) string { return program }
