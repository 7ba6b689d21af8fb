package assets

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/kubecascade/kubecascade/internal/assets/help"
)

// keepHelp keeps the help of a link to the program beside it, unless that is up to date. In a directory that can't be
// written, the program answers itself, which only takes longer.
func keepHelp(link string) error {
	if _, ok := help.Kept(link); ok {
		return nil
	}
	stamp, err := help.Stamp(link) // before it runs: it may be replaced meanwhile
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	c := exec.Command(link, help.Argument)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", link, help.Argument, err)
	}
	a := help.Answer{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	_ = replace(filepath.Join(filepath.Dir(link), help.File(link)), string(a.Encode(stamp)))
	return nil
}
