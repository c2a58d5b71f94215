module github.com/satchel-go/satchel/observe/trace

go 1.26.0

require (
	github.com/satchel-go/satchel v0.0.0
	github.com/satchel-go/satchel/internal/cachecost v0.0.0
)

require (
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/tiktoken-go/tokenizer v0.10.0 // indirect
)
