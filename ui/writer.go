package ui

import (
	"encoding/json"
	"net/http"
	"time"
)

// patience is how long a client may leave a message unread, so that none holds a stream.
const patience = 30 * time.Second

// Writer writes a stream. One goroutine uses it.
type Writer struct {
	encoder *json.Encoder
	control *http.ResponseController
}

// NewWriter returns the writer of a response.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{encoder: json.NewEncoder(w), control: http.NewResponseController(w)}
}

// Write writes messages, each as a line, and sends them.
func (w *Writer) Write(messages ...Message) error {
	for i := range messages {
		if err := w.control.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if err := w.encoder.Encode(&messages[i]); err != nil {
			return err
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return w.control.Flush()
}
