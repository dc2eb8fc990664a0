import { expect, test } from 'vitest';
import { plainText } from '../../src/terminal/escapes';

test.each([
  ['nothing to take out', 'step 1\nstep 2\n', 'step 1\nstep 2\n'],
  ['colours', '\x1b[32m2026-11-28\x1b[0m \x1b[38;5;196mERROR\x1b[m x', '2026-11-28 ERROR x'],
  ['the marks of shell integration', '\x1b]633;C\x07output\r\n\x1b]633;D;1\x07', 'output\n'],
  ['a title that ends in ST', '\x1b]0;bash\x1b\\$ ', '$ '],
  ['cursor moves and erasures', 'a\x1b[2K\x1b[1Gb\x1b[?25l', 'ab'],
  ['other escapes', '\x1b(B\x1b=\x1b>text\x1bM', 'text'],
  ['device control', '\x1bP+q544e\x1b\\text', 'text'],
  ['line ends of a terminal', 'a\r\nb\r\r\nc', 'a\nb\nc'],
  ['a line that is rewritten, which stays', ' 10%\r 20%\r\nrank 3 failed', ' 10%\n 20%\nrank 3 failed'],
  ['control characters, but no tabs', 'a\0b\x08c\td\x7f', 'abc\td'],
  ['a sequence that is cut off at the end', 'text\x1b[3', 'text'],
  ['brackets that are no escapes', '[rank3]: [E1128]', '[rank3]: [E1128]'],
  ['what is not ASCII', '\x1b[1m모델 ✓ 😀\x1b[0m', '모델 ✓ 😀'],
])('%s', (_, raw, plain) => {
  expect(plainText(raw)).toBe(plain);
});

// What takes time by the square of the length would not end before the runner's limit.
test('long hostile text', () => {
  const hostile = '\x1b]'.repeat(200_000) + '\x1b['.repeat(200_000);
  expect(plainText(hostile).length).toBeLessThanOrEqual(hostile.length);
});
