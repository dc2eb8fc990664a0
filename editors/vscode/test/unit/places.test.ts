import { expect, test } from 'vitest';
import { linkLines, placeAt } from '../../src/places';
import type { Location, Report } from '../../src/report';

const all = (): boolean => true;

test('links lines in prose', () => {
  expect(linkLines('Rank 3 failed first, at line 29: see Line 30.', all)).toBe(
    'Rank 3 failed first, at [line 29](#29): see [Line 30](#30).',
  );
});

test('leaves code and the links of the server alone', () => {
  const markdown = 'Run `sed -n "line 3"`:\n\n```\nline 4\n`line 5`\n```\n\n[line 6](file:///a.log#L6), line 7';
  expect(linkLines(markdown, all)).toBe(
    'Run `sed -n "line 3"`:\n\n```\nline 4\n`line 5`\n```\n\n[line 6](file:///a.log#L6), [line 7](#7)',
  );
});

test('leaves what is no place alone', () => {
  expect(linkLines('line 3 and line 4; outline 4, line 4a', (line) => line === 4)).toBe('line 3 and [line 4](#4); outline 4, line 4a');
});

test('a place of several files is named by its number when only one has it', () => {
  const at = (file: string, line: number): Location => ({ file, line, offset: 0, text: '' });
  const report: Report = {
    input: { files: [{ path: 'a' }, { path: 'b' }] },
    verdict: {
      status: 'diagnosed',
      title: '',
      initiator: { location: at('a', 1), stated_at: at('a', 9) },
      ...{ evidence: [{ location: at('a', 9) }, { location: at('a', 5) }], collateral: [{ location: at('b', 5) }, { location: at('b', 7) }] },
    },
  };
  expect(placeAt(report, 9)?.file).toBe('a');
  expect(placeAt(report, 7)?.file).toBe('b');
  expect(placeAt(report, 5)).toBeUndefined();
  expect(placeAt(report, 6)).toBeUndefined();
});
