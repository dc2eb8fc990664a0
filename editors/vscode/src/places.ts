// The lines that a report names, as links that the preview can follow.
import { type Location, locations, type Report } from './report';

const place = /\b([Ll]ine) (\d+)\b/g;
// Code, in blocks and in lines, and links that the server made: nothing in them is touched.
const untouched = /(^```[^]*?^```$|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\))/m;

/**
 * Links each "line N" of a rendered report to #N. Where the lines are of files that are not open, only those are
 * linked that one place alone can mean.
 */
export function linkLines(markdown: string, means: (line: number) => boolean): string {
  return markdown
    .split(untouched)
    .map((part, index) =>
      index % 2 ? part : part.replace(place, (text, _word, line) => (means(Number(line)) ? `[${text}](#${line})` : text)),
    )
    .join('');
}

/** The one place of the report that has this line number. */
export function placeAt(report: Report, line: number): Location | undefined {
  const found = locations(report.verdict).filter((at) => at.line === line);
  return found.length === 1 ? found[0] : undefined;
}
