package skillmd

// Code names a kind of finding. Codes are stable: tools may match on them.
type Code string

// Findings about the text and its fences.
const (
	// CodeNoFrontMatter: the first line that is not blank is not "---".
	CodeNoFrontMatter Code = "frontmatter-missing"
	// CodeLeadingBlank: blank lines stand before the opening fence.
	CodeLeadingBlank Code = "frontmatter-late"
	// CodeUnclosed: no line closes the front matter.
	CodeUnclosed Code = "frontmatter-unclosed"
	// CodeOddClose: the front matter ends at a line that only begins with "---".
	CodeOddClose Code = "frontmatter-odd-close"
	// CodeTooLarge: the front matter is longer than [MaxFrontMatter].
	CodeTooLarge Code = "frontmatter-too-large"
	// CodeBOM: the file begins with a UTF-8 byte order mark.
	CodeBOM Code = "bom"
	// CodeUTF16: the file is UTF-16; it must be UTF-8.
	CodeUTF16 Code = "utf16"
	// CodeCRLF: lines end in CR LF or CR.
	CodeCRLF Code = "crlf"
	// CodeInvalidUTF8: bytes that are not UTF-8 were replaced by U+FFFD.
	CodeInvalidUTF8 Code = "invalid-utf8"
	// CodeControl: control characters were replaced by U+FFFD.
	CodeControl Code = "control-character"
	// CodeInvisible: the name or the description holds zero-width, direction or
	// tag characters, which people do not see and models do.
	CodeInvisible Code = "invisible-character"
)

// Findings about the YAML.
const (
	// CodeYAMLInvalid: the front matter is not valid YAML.
	CodeYAMLInvalid Code = "yaml-invalid"
	// CodeYAMLRepaired: a field was read in spite of invalid YAML.
	CodeYAMLRepaired Code = "yaml-repaired"
	// CodeYAMLDropped: a field could not be read and is ignored.
	CodeYAMLDropped Code = "yaml-dropped"
	// CodeYAMLPanic: the YAML made the YAML library panic.
	CodeYAMLPanic Code = "yaml-panic"
	// CodeNotMapping: the front matter is YAML, but no mapping.
	CodeNotMapping Code = "yaml-not-mapping"
	// CodeDuplicateKey: a key stands twice; the last one counts.
	CodeDuplicateKey Code = "yaml-duplicate-key"
	// CodeBadKey: a key is not a scalar or longer than 256 bytes.
	CodeBadKey Code = "yaml-bad-key"
	// CodeAlias: a field uses an alias. Only an alias of a scalar that is the
	// whole value is followed.
	CodeAlias Code = "yaml-alias"
	// CodeAnchor: a value has an anchor.
	CodeAnchor Code = "yaml-anchor"
	// CodeTag: a value has a tag, which is ignored.
	CodeTag Code = "yaml-tag"
	// CodeFlow: a value is a flow collection ([] or {}).
	CodeFlow Code = "yaml-flow"
	// CodeDepth: a value is nested more than 64 levels deep.
	CodeDepth Code = "yaml-depth"
)

// Findings about the fields.
const (
	// CodeNameMissing: there is no name, or it is blank.
	CodeNameMissing Code = "name-missing"
	// CodeNameType: the name is a list or a map.
	CodeNameType Code = "name-not-string"
	// CodeNameTooLong: the name is longer than 64 characters after NFKC.
	CodeNameTooLong Code = "name-too-long"
	// CodeNameCase: the name is not lowercase.
	CodeNameCase Code = "name-not-lowercase"
	// CodeNameEdge: the name starts or ends with a hyphen.
	CodeNameEdge Code = "name-edge-hyphen"
	// CodeNameDouble: the name holds two hyphens in a row.
	CodeNameDouble Code = "name-double-hyphen"
	// CodeNameCharacter: the name holds something else than letters, digits
	// and hyphens.
	CodeNameCharacter Code = "name-invalid-character"
	// CodeNameMismatch: the name differs from the directory's.
	CodeNameMismatch Code = "name-mismatch"

	// CodeDescriptionMissing: there is no description, or it is blank.
	CodeDescriptionMissing Code = "description-missing"
	// CodeDescriptionType: the description is a list or a map.
	CodeDescriptionType Code = "description-not-string"
	// CodeDescriptionTooLong: the description is longer than 1024 characters.
	CodeDescriptionTooLong Code = "description-too-long"
	// CodeDescriptionCut: " #" in an unquoted description starts a YAML
	// comment, so the rest of the line is not part of it.
	CodeDescriptionCut Code = "description-cut"

	// CodeLicenseType: the license is a list or a map.
	CodeLicenseType Code = "license-not-string"
	// CodeCompatibilityType: compatibility is a list or a map.
	CodeCompatibilityType Code = "compatibility-not-string"
	// CodeCompatibilityEmpty: compatibility is present and blank.
	CodeCompatibilityEmpty Code = "compatibility-empty"
	// CodeCompatibilityTooLong: compatibility is longer than 500 characters.
	CodeCompatibilityTooLong Code = "compatibility-too-long"
	// CodeMetadataType: metadata is not a map.
	CodeMetadataType Code = "metadata-not-map"
	// CodeMetadataNested: a value in metadata is a list or a map; the
	// specification allows strings only.
	CodeMetadataNested Code = "metadata-nested"

	// CodeToolsType: allowed-tools, or an item of its list, is not text.
	CodeToolsType Code = "allowed-tools-type"
	// CodeToolsParens: the parentheses in allowed-tools do not match.
	CodeToolsParens Code = "allowed-tools-parentheses"
	// CodeToolsSpelling: allowed_tools, allowedTools and the like are not read;
	// allowed-tools would be.
	CodeToolsSpelling Code = "allowed-tools-spelling"
	// CodeFlag: disable-model-invocation or user-invocable is not a boolean;
	// the closed value holds.
	CodeFlag Code = "flag-invalid"

	// CodeUnknownField: a top-level field is not in the specification. Only
	// [SkillsRef] reports it.
	CodeUnknownField Code = "unknown-field"
	// CodeSuspiciousKey: a top-level key holds white space, so it is probably
	// text that fell out of a value.
	CodeSuspiciousKey Code = "key-suspicious"
)
