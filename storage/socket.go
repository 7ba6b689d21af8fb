package storage

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
)

// Names of etcd's sockets. The client's is the longer, which makeSocketDir relies on.
const clientSocket, peerSocket = "client", "peer"

// makeSocketDir makes the directory of the sockets, for this user only. It is in the data directory,
// where a crash leaves nothing that the next start doesn't remove, unless no socket can be there: the
// path may be too long (108 bytes on Linux, 104 elsewhere), or the file system may have none.
func makeSocketDir(data string) (string, error) {
	var failed []error
	for _, make := range []func() (string, error){
		func() (string, error) {
			dir := filepath.Join(data, "sockets")
			return dir, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
		},
		func() (string, error) { return os.MkdirTemp("", memberName+"-") },
		func() (string, error) { return os.MkdirTemp("/tmp", memberName+"-") }, // $TMPDIR may be long too
	} {
		dir, err := make()
		if err == nil {
			if err = tryListen(filepath.Join(dir, clientSocket)); err == nil {
				return dir, nil
			}
			os.RemoveAll(dir)
		}
		failed = append(failed, err)
	}
	return "", fmt.Errorf("making a directory for sockets: %w", errors.Join(failed...))
}

// tryListen finds out whether there can be a socket.
func tryListen(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	return l.Close()
}

// socketURL addresses a socket. The whole path is the host, because etcd looks for that of its
// peers nowhere else.
func socketURL(dir, name string) url.URL {
	return url.URL{Scheme: "unix", Host: filepath.Join(dir, name)}
}
