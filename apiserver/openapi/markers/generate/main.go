package main

import (
	"log"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/openapi/markers/extract"
)

func main() {
	text, err := extract.All(".")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("markers.txt", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
