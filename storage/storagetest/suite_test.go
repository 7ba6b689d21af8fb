package storagetest

import (
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

func TestTwin(t *testing.T) {
	Run(t, func(t *testing.T) storage.Store { return NewTwin() })
}

func TestEphemeral(t *testing.T) {
	Run(t, func(t *testing.T) storage.Store { return Open(t) })
}

func TestDurable(t *testing.T) {
	Run(t, func(t *testing.T) storage.Store { return OpenConfig(t, storage.Config{DataDir: t.TempDir()}) })
}
