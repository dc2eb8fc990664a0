// What a terminal was sent, as plain text.

// OSC (window titles, shell integration), DCS and the like up to their end, CSI (colours, cursor), other escapes.
const escapes =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x1b[ -/]*(?:[0-~]|$)/g;

// eslint-disable-next-line no-control-regex -- the same
const controls = /[\0-\x08\x0b-\x1f\x7f]/g;

/**
 * Takes out escape sequences and control characters. A carriage return that rewrites a line ends it instead: another
 * process may have printed what it would hide.
 */
export function plainText(raw: string): string {
  return raw.replace(escapes, '').replace(/\r+\n|\r/g, '\n').replace(controls, '');
}
