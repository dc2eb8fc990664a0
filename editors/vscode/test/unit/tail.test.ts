import { expect, test } from 'vitest';
import { Tail } from '../../src/terminal/tail';

test('keeps all that fits', () => {
  const tail = new Tail(10);
  tail.add('12345');
  tail.add('67890');
  expect(tail.text()).toBe('1234567890');
  expect(tail.cut).toBe(false);
});

test('lets the oldest go, and starts with a whole line', () => {
  const tail = new Tail(12);
  for (const chunk of ['one\ntw', 'o\nthr', 'ee\nfour\n']) {
    tail.add(chunk);
  }
  expect(tail.cut).toBe(true);
  expect(tail.text()).toBe('ee\nfour\n'.slice(3));
});

test('keeps the end of a chunk that is larger than all', () => {
  const tail = new Tail(6);
  tail.add('first\nsecond\nlast\n');
  expect(tail.text()).toBe('last\n');
  expect(tail.cut).toBe(true);
});

// What takes time by the square of the length would not end before the runner's limit.
test('a million small chunks take a bounded memory', () => {
  const tail = new Tail(1000);
  for (let i = 0; i < 1_000_000; i++) {
    tail.add('line\n');
  }
  expect(tail.text().length).toBeLessThanOrEqual(1000);
});
