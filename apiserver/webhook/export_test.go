package webhook

// OnFull sets what is called when a response is about to wait for memory.
func (c *Clients) OnFull(f func()) { c.waits = f }
