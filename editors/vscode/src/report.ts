// The part of the server's report that the extension shows or follows. The whole is described by the server.

/** A place of the input; lines end at LF, offsets are bytes. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  readonly text: string;
}

/** The process that failed first. */
export interface Initiator {
  readonly rank?: number | null;
  readonly process?: string | null;
  readonly host?: string | null;
  readonly location?: Location | null;
  readonly stated_at?: Location | null;
}

/** What shows whether a fix worked: a command line, or a line of Python for the program itself. */
export interface Verification {
  readonly command: string;
  readonly language: 'shell' | 'python';
  readonly expect: string;
}

/** Who, what, why, and what to do. */
export interface Verdict {
  readonly status: 'diagnosed' | 'undetermined' | 'no_failure_found';
  readonly signature?: string | null;
  readonly title: string;
  readonly initiator?: Initiator | null;
  readonly fixes?: readonly object[] | null;
  readonly verify?: readonly Verification[] | null;
}

/** One incident. */
export interface Report {
  readonly input: { readonly files: readonly { readonly path: string }[] };
  readonly verdict: Verdict;
}

/** The line on which the verdict stands: the one that states the failure, else the first of its block. */
export function initiatingLine({ initiator }: Verdict): Location | undefined {
  return initiator?.stated_at ?? initiator?.location ?? undefined;
}

/** All places that a verdict names, each once. */
export function locations(verdict: Verdict): Location[] {
  const found = new Map<string, Location>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (value && typeof value === 'object') {
      const at = value as Partial<Location>;
      if (typeof at.line === 'number' && typeof at.offset === 'number' && typeof at.file === 'string') {
        found.set(`${at.file}:${at.line}`, at as Location);
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(verdict);
  return [...found.values()];
}
