package skillmd

// Code names a kind of finding. Codes are stable: tools may match on them.
type Code string

// The codes that [Parse] reports.
const (
	// Findings about the text and its fences.

	codeNoFrontMatter Code = "frontmatter-missing"   // the first line that is not blank is not "---".
	codeLeadingBlank  Code = "frontmatter-late"      // blank lines stand before the opening fence.
	codeUnclosed      Code = "frontmatter-unclosed"  // no line closes the front matter.
	codeOddClose      Code = "frontmatter-odd-close" // the front matter ends at a line that only begins with "---".
	codeTooLarge      Code = "frontmatter-too-large" // the front matter is longer than 64 KiB.
	codeBOM           Code = "bom"                   // the file begins with a UTF-8 byte order mark.
	codeUTF16         Code = "utf16"                 // the file is UTF-16; it must be UTF-8.
	codeCRLF          Code = "crlf"                  // lines end in CR LF or CR.
	codeInvalidUTF8   Code = "invalid-utf8"          // bytes that are not UTF-8 were replaced by U+FFFD.
	codeControl       Code = "control-character"     // control characters were replaced: by spaces in the description, else by U+FFFD.
	codeInvisible     Code = "invisible-character"   // the description or the body holds characters that people do not see and models do, such as zero-width ones and tags.

	// Findings about the YAML.

	codeYAMLInvalid  Code = "yaml-invalid"       // the front matter is not valid YAML.
	codeYAMLRepaired Code = "yaml-repaired"      // a field was read in spite of invalid YAML.
	codeYAMLDropped  Code = "yaml-dropped"       // a field could not be read and is ignored.
	codeYAMLPanic    Code = "yaml-panic"         // the YAML made the YAML library panic.
	codeNotMapping   Code = "yaml-not-mapping"   // the front matter is YAML, but no mapping.
	codeDuplicateKey Code = "yaml-duplicate-key" // a key stands twice; the last one counts.
	codeBadKey       Code = "yaml-bad-key"       // a key is not a scalar or longer than 256 bytes.
	codeAlias        Code = "yaml-alias"         // a field uses an alias. Only an alias of a scalar that is the whole value is followed.
	codeAnchor       Code = "yaml-anchor"        // a value has an anchor.
	codeTag          Code = "yaml-tag"           // a value has a tag, which is ignored.
	codeFlow         Code = "yaml-flow"          // a value is a flow collection ([] or {}).
	codeDepth        Code = "yaml-depth"         // a value is nested more than 64 levels deep.

	// Findings about the fields.

	codeNameUnprintable Code = "name-unprintable"       // the name holds control or invisible characters; the skill is hidden.
	codeNameMissing     Code = "name-missing"           // there is no name, or it is blank.
	codeNameType        Code = "name-not-string"        // the name is a list or a map.
	codeNameTooLong     Code = "name-too-long"          // the name is longer than 64 characters after NFKC.
	codeNameCase        Code = "name-not-lowercase"     // the name is not lowercase.
	codeNameEdge        Code = "name-edge-hyphen"       // the name starts or ends with a hyphen.
	codeNameDouble      Code = "name-double-hyphen"     // the name holds two hyphens in a row.
	codeNameCharacter   Code = "name-invalid-character" // the name holds something else than letters, digits and hyphens.
	codeNameMismatch    Code = "name-mismatch"          // the name differs from the directory's.

	codeDescriptionMissing Code = "description-missing"    // there is no description, or it is blank.
	codeDescriptionType    Code = "description-not-string" // the description is a list or a map.
	codeDescriptionTooLong Code = "description-too-long"   // the description is longer than 1024 characters.
	codeShortDescription   Code = "short-description"      // short_description stands in for the description.
	codeDescriptionCut     Code = "description-cut"        // " #" in an unquoted description starts a YAML comment, so the rest of the line is not part of it.

	codeLicenseType          Code = "license-not-string"       // the license is a list or a map.
	codeCompatibilityType    Code = "compatibility-not-string" // compatibility is a list or a map.
	codeCompatibilityEmpty   Code = "compatibility-empty"      // compatibility is present and blank.
	codeCompatibilityTooLong Code = "compatibility-too-long"   // compatibility is longer than 500 characters.
	codeMetadataType         Code = "metadata-not-map"         // metadata is not a map.
	codeMetadataNested       Code = "metadata-nested"          // a value in metadata is a list or a map; the specification allows strings only.
	codeNeeds                Code = "needs-malformed"          // a part of what the skill declares to need cannot be read.

	codeToolsType     Code = "allowed-tools-type"        // allowed-tools, or an item of its list, is not text.
	codeToolsParens   Code = "allowed-tools-parentheses" // the parentheses in allowed-tools do not match.
	codeToolsSpelling Code = "allowed-tools-spelling"    // allowed_tools, allowedTools and the like are not read; allowed-tools would be.
	codeFlag          Code = "flag-invalid"              // disable-model-invocation or user-invocable is not a boolean; it counts as the value that restricts the skill.

	codeArgumentsType Code = "arguments-type" // arguments is neither text nor a list of names.
	codeArgumentsName Code = "arguments-name" // a name in arguments cannot be a placeholder.
	codeArgumentsMany Code = "arguments-many" // arguments has more names than are read.

	codeUnknownField  Code = "unknown-field"  // a top-level field is not in the specification. Only [SkillsRef] reports it.
	codeSuspiciousKey Code = "key-suspicious" // a top-level key holds white space, so it is probably text that fell out of a value.
)
