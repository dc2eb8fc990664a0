package signatures

import (
	"slices"
	"strings"
)

// Codes says in words what numbers and names mean that programs print as facts: exit
// statuses, signals, the driver's error codes. One file under codes holds one of them.
type Codes struct {
	// Facts are the facts that hold such a code: "exit_code" of any message, or
	// "kernel-xid.code" of one.
	Facts []string `toml:"facts"`
	// Called is what a code is called where it is told of: "exit code", "Xid".
	Called string `toml:"called"`
	Codes  []Code `toml:"code"`
}

// Code is what one code means. Several spellings may mean the same.
type Code struct {
	// Is lists the spellings, as they are printed: "-9", "137".
	Is []string `toml:"is"`
	// Means goes on behind the code and a colon, without a full stop at its end.
	Means string `toml:"means"`
}

// Means says in words what the value of a message's fact means: "exit code -9:
// killed from outside ...". ok is false if no table of codes knows it. A table for
// the one message counts before one for the facts of all.
func (s *Set) Means(message, fact, value string) (words string, ok bool) {
	for _, name := range []string{message + "." + fact, fact} {
		if words, ok = s.codes[name][value]; ok {
			return words, true
		}
	}
	return "", false
}

// addCodes makes a table of codes known. Of two meanings of one code the first is found.
func (s *Set) addCodes(c *Codes) {
	for _, fact := range c.Facts {
		if s.codes[fact] == nil {
			s.codes[fact] = map[string]string{}
		}
		for _, code := range c.Codes {
			for _, spelling := range code.Is {
				if _, taken := s.codes[fact][spelling]; !taken {
					s.codes[fact][spelling] = c.Called + " " + spelling + ": " + code.Means
				}
			}
		}
	}
}

// checkCodes checks a table of codes.
func (c *checker) checkCodes(codes *Codes, file *source) {
	if len(codes.Facts) == 0 {
		c.errorf(file, 0, "add facts: the facts that hold these codes, such as \"exit_code\"")
	}
	for _, name := range codes.Facts {
		if !c.captured(name) {
			c.errorf(file, file.line("facts"), "no message captures %q", name)
		}
	}
	if codes.Called == "" {
		c.errorf(file, 0, "add called: what such a code is called, such as \"exit code\"")
	}
	if len(codes.Codes) == 0 {
		c.errorf(file, 0, "no [[code]]: add one or remove the file")
	}
	seen := map[string]bool{}
	for i, code := range codes.Codes {
		at := func(key string) int { return file.line(key, table{"code", i}) }
		if len(code.Is) == 0 {
			c.errorf(file, at("is"), "add is: how the code is printed")
		}
		for _, spelling := range code.Is {
			if seen[spelling] {
				c.errorf(file, at("is"), "code %q is there twice", spelling)
			}
			seen[spelling] = true
		}
		if code.Means == "" || strings.HasSuffix(code.Means, ".") {
			c.errorf(file, at("means"), "add means: words that can follow a colon, without a full stop")
		}
	}
}

// captured reports whether a message captures a fact: "exit_code" for any message,
// "kernel-xid.code" for one.
func (c *checker) captured(name string) bool {
	message, fact, one := strings.Cut(name, ".")
	if one {
		return c.set.Kinds(message)[fact] != ""
	}
	return slices.ContainsFunc(c.set.messages, func(m *Message) bool { return c.set.Kinds(m.ID)[name] != "" })
}
