package embedded_test

import (
	"context"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/kubecascade/kubecascade/storage"
)

// reopen opens and closes a directory.
func reopen(t *testing.T, dir string) {
	t.Helper()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
}

// TestOtherMembers opens the directory of a member of two, which can't lead alone.
func TestOtherMembers(t *testing.T) {
	dir := t.TempDir()
	c := embed.NewConfig()
	c.Dir, c.Name = dir, "one"
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.ListenClientUrls, c.ListenPeerUrls = nil, nil
	c.AdvertisePeerUrls = []url.URL{{Scheme: "unix", Host: "one"}}
	c.InitialCluster = "one=unix://one,two=unix://two"
	member, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	for member.Server.AppliedIndex() < 2 { // its log begins with an entry for each member
		time.Sleep(time.Millisecond)
	}
	member.Close()
	_, err = storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "cluster of 2 members") {
		t.Errorf("opening: %v", err)
	}
}

// TestCanceledStartLeavesDataUsable cancels the first start of etcd in a directory, and a later one.
func TestCanceledStartLeavesDataUsable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	for range 2 {
		if _, err := storage.Open(ctx, storage.Config{DataDir: dir}); err == nil {
			t.Error("opened")
		}
		reopen(t, dir)
	}
}

// TestDirectoryNamesMayHaveSpecialCharacters opens directories whose names have special characters.
func TestDirectoryNamesMayHaveSpecialCharacters(t *testing.T) {
	for _, name := range []string{"[", "*", "a b", "#?%41", strings.Repeat("long", 40)} {
		dir := filepath.Join(t.TempDir(), name)
		reopen(t, dir)
		reopen(t, dir)
	}
}
