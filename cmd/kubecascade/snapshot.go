package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/backup"
)

// snapshotCommand is "snapshot".
func snapshotCommand() *cobra.Command {
	c := &cobra.Command{Use: "snapshot", Short: "Look into the backup of a cluster"}
	c.AddCommand(inspectCommand())
	return c
}

// inspectCommand is "snapshot inspect".
func inspectCommand() *cobra.Command {
	var o backup.Options
	var output string
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Say what an etcd snapshot contains",
		Long: `Say what a snapshot of etcd contains, as "etcdctl snapshot save" writes it, or the database of a data
directory that no etcd uses: the revision, whether the hash matches, the objects by type and namespace,
the largest ones, and those that can't be read, with the reason. The file is only read.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := (outputs{output}).check("text", "json"); err != nil {
				return err
			}
			r, err := backup.Inspect(args[0], o)
			if err != nil {
				return errUnable{err}
			}
			if output == "text" {
				_, err = io.WriteString(c.OutOrStdout(), r.Text())
				return err
			}
			e := json.NewEncoder(c.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(r)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "format of the report: text, json")
	c.Flags().StringVar(&o.Prefix, "etcd-prefix", "", "prefix of the cluster's keys (default: found by the namespaces)")
	return c
}
