// Command record runs upstream's plugins for admission webhooks, and prints what they answer.
package main

import (
	"fmt"
	"io"
	"log"

	"k8s.io/klog/v2"
)

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	log.SetOutput(io.Discard)
	s := newServer()
	defer s.Close()
	for _, k := range []plugin{mutates, validates} {
		fmt.Println("=====", k)
		for _, c := range s.cases() {
			if c.only == "" || c.only == k {
				c.run(s, k)
			}
		}
	}
}
