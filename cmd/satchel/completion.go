package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help is the long help of the command.
func (completionCmd) Help() string {
	return `Load it where your shell starts:
  bash  source <(satchel completion bash)           in ~/.bashrc
  zsh   source <(satchel completion zsh)            in ~/.zshrc, after compinit
  fish  satchel completion fish | source            in ~/.config/fish/config.fish
Values of flags that are files or directories are completed as the shell does.`
}

// Run prints the code.
func (cmd *completionCmd) Run(app *kong.Kong, c cli.Console) error {
	write := map[string]func(io.Writer, []completed) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}[cmd.Shell]
	if err := write(c.Out, completions(app.Model.Node)); err != nil {
		return fmt.Errorf("write completion: %w", err)
	}
	return nil
}

// completed is a command with what may follow it.
type completed struct {
	name, help string
	flags      []completedFlag
}

type completedFlag struct {
	name, help string
	values     []string // of an enumeration, else nil
	taken      bool     // a value follows
}

// completions are the commands that people see, with their flags.
func completions(app *kong.Node) (all []completed) {
	for _, command := range app.Children {
		if command.Hidden {
			continue
		}
		c := completed{name: command.Name, help: command.Help}
		for _, f := range slices.Concat(app.Flags, command.Flags) {
			var values []string
			if f.Enum != "" {
				values = f.EnumSlice()
			}
			c.flags = append(c.flags, completedFlag{"--" + f.Name, f.Help, values, !f.IsBool()})
		}
		all = append(all, c)
	}
	return all
}

func (c *completed) flagNames() string {
	names := make([]string, len(c.flags))
	for i, f := range c.flags {
		names[i] = f.name
	}
	return strings.Join(names, " ")
}

func commandNames(all []completed) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return strings.Join(names, " ")
}

// cases writes what follows in bash and zsh: the values of the flag before, if it has
// a set of them, else the flags of the command.
func cases(all []completed) string {
	var b strings.Builder
	for _, c := range all {
		for _, f := range c.flags {
			if f.values != nil {
				fmt.Fprintf(&b, "    %s,%s) words='%s' ;;\n", c.name, f.name, strings.Join(f.values, " "))
			} else if f.taken {
				fmt.Fprintf(&b, "    %s,%s) words='' ;;\n", c.name, f.name)
			}
		}
		fmt.Fprintf(&b, "    %s,*) words='%s' ;;\n", c.name, c.flagNames())
	}
	return b.String()
}

func completeBash(w io.Writer, all []completed) error {
	_, err := fmt.Fprintf(w, `_satchel() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '%s --help --version' -- "$cur"))
    return
  fi
  case "$command,$prev" in
%s  esac
  case "$cur,$words" in
    -*|*,[!-]*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) COMPREPLY=() ;;
  esac
}
complete -o default -F _satchel satchel
`, commandNames(all), cases(all))
	return err
}

func completeZsh(w io.Writer, all []completed) error {
	_, err := fmt.Fprintf(w, `_satchel() {
  local current=${words[CURRENT]} previous=${words[CURRENT-1]} command=${words[2]}
  if (( CURRENT == 2 )); then
    compadd -- %s --help --version
    return
  fi
  local words=
  case "$command,$previous" in
%s  esac
  if [[ "$current" == -* || ( -n "$words" && "$words" != -* ) ]]; then
    compadd -- ${=words}
  else
    _files
  fi
}
compdef _satchel satchel
`, commandNames(all), cases(all))
	return err
}

func completeFish(w io.Writer, all []completed) error {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c satchel -n __fish_use_subcommand -f -a %s -d %s\n", c.name, fishQuoted(c.help))
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c satchel -n '__fish_seen_subcommand_from %s' -l %s", c.name, strings.TrimPrefix(f.name, "--"))
			switch {
			case f.values != nil:
				fmt.Fprintf(&b, " -x -a %s", fishQuoted(strings.Join(f.values, " ")))
			case f.taken:
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", fishQuoted(cli.Shorten(f.help, maxFlagHelp)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
