package tests

import (
	"os"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) { os.Exit(process.Run(m, nil)) }
