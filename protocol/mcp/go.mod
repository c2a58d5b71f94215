module github.com/satchel-go/satchel/protocol/mcp

go 1.26.0

require (
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/satchel-go/satchel v0.0.0
	github.com/satchel-go/satchel/protocol v0.0.0
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.43.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
