module github.com/satchel-go/satchel/protocol

go 1.26.0

require (
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/satchel-go/satchel v0.0.0
	golang.org/x/mod v0.41.0
	golang.org/x/sys v0.49.0
	gopkg.in/yaml.v3 v3.0.1
)

require golang.org/x/text v0.43.0 // indirect
