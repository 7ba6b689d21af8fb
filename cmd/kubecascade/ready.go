package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/kubecascade/kubecascade"
)

// readyMessage returns the message with the addresses of the server.
func readyMessage(s *kubecascade.Server) string {
	return fmt.Sprintf("kubecascade %s ready in %d ms: %s, kubeconfig %s", version, time.Since(started).Milliseconds(),
		strings.TrimSpace(s.InsecureURL()+" "+s.URL()), s.Kubeconfig())
}

// readyFile is the content of --ready-file. It has no secret: credentials are in the kubeconfig.
type readyFile struct {
	// PID is the process' ID.
	PID int `json:"pid"`
	// Version is kubecascade's, KubernetesVersion the reproduced release; both without a leading v.
	Version           string `json:"version"`
	KubernetesVersion string `json:"kubernetesVersion"`
	// URL is that of the port for HTTPS, InsecureURL that for plain HTTP, if there is one.
	URL         string `json:"url"`
	InsecureURL string `json:"insecureURL,omitempty"`
	// Kubeconfig is the absolute path of an administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// CertificateAuthorityData are the certificates in PEM, in base64 as in a kubeconfig, that verify the server's.
	CertificateAuthorityData []byte `json:"certificateAuthorityData"`
}

// ready announces a server that accepts requests.
type ready struct {
	// path is that of --ready-file; empty for none.
	path string
	// warn logs that systemd can't be notified.
	warn func(error)
}

// prepare is called before the start: it removes the file of an earlier process, which would be taken for this one's,
// and checks that the file's directory exists.
func (r ready) prepare() error {
	if r.path == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(r.path)); err != nil {
		return fmt.Errorf("--ready-file: directory: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("--ready-file: %s is not a directory", filepath.Dir(r.path))
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-file: remove the previous file: %w", err)
	}
	return nil
}

// begin writes the file and notifies systemd (sd_notify(3)), as kube-apiserver does (k8s.io/apiserver
// pkg/server/genericapiserver.go: RunWithContext).
func (r ready) begin(s *kubecascade.Server) error {
	if r.path != "" {
		if err := r.write(s); err != nil {
			return fmt.Errorf("--ready-file: %w", err)
		}
	}
	r.notify(daemon.SdNotifyReady)
	return nil
}

// end removes the file and notifies systemd, before the server stops.
func (r ready) end() error {
	r.notify(daemon.SdNotifyStopping)
	if r.path == "" {
		return nil
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-file: remove: %w", err)
	}
	return nil
}

// notify sends the state to systemd, if systemd has started the process as a service of the type notify.
func (r ready) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		r.warn(err)
	}
}

// write writes the file under another name and renames it, so that readers see the whole file or none.
func (r ready) write(s *kubecascade.Server) error {
	kubeconfig, err := filepath.Abs(s.Kubeconfig())
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(readyFile{
		PID: os.Getpid(), Version: version, KubernetesVersion: kubecascade.KubernetesVersion,
		URL: s.URL(), InsecureURL: s.InsecureURL(), Kubeconfig: kubeconfig,
		CertificateAuthorityData: s.Config().CAData,
	}, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(r.path), "."+filepath.Base(r.path)+"-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), r.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
