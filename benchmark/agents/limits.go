package main

import "time"

// headerWait is how long the endpoint waits for the header of a request. Agents on the same
// machine send it at once.
const headerWait = 10 * time.Second

// maxPlay is how long a session may take.
const maxPlay = 15 * time.Minute
