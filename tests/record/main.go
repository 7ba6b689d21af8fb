// Command record runs upstream's plugins for admission webhooks on the cases of conformance/recorded/admission, and
// prints their responses. Its argument is the file of the cases.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"
)

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	log.SetOutput(io.Discard)
	file := "../conformance/recorded/admission/webhooks.yaml"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	if err := run(file); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	var cases []webhookCase
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(data, &cases)
	}
	if err != nil {
		return fmt.Errorf("reading the cases: %w", err)
	}
	s := newServer()
	defer s.Close()
	for _, k := range []plugin{mutates, validates} {
		fmt.Println("=====", k)
		for _, c := range cases {
			if c.Only != "" && c.Only != k {
				continue
			}
			if err := c.run(s, k); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}
