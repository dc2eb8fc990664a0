// Takes out of a report what should not leave the team: names of hosts, addresses, folders, mail addresses, secrets.
import type { Report } from './report';

const link = /\[([^\]\n]*)\]\((?:file:|#)[^)\n]*\)/g;
const mail = /[\w.+-]+@[\w-]+(?:\.[\w-]+)*/g;
const address4 = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const address6 = /(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}(?::[0-9a-f]{1,4})*(?![\w:])/gi;
const assigned = /\b([\w-]*(?:token|secret|password|passwd|api[_-]?key)[\w-]*\s*[=:]\s*)(?!\s)["']?[^\s"']{6,}["']?/gi;
const wellKnown = /\b(?:hf_|sk-|ghp_|github_pat_|glpat-|xox[abp]-|AKIA)[\w-]{12,}/g;
// At least two folders deep, and not the middle of a URL.
const unixPath = /(?<![\w:/.~-])~?\/(?:[\w.@+-]+\/)+([\w.@+-]+)/g;
const windowsPath = /\b[A-Za-z]:\\(?:[^\\\s:"'<>|]+\\)+([^\\\s:"'<>|]+)/g;

/** The rendered report without them. The same name gets the same number everywhere. */
export function redact(markdown: string, report: Report): string {
  const numbered = (what: string) => {
    const seen = new Map<string, number>();
    return (name: string): string => {
      seen.set(name, seen.get(name) ?? seen.size + 1);
      return `<${what}-${seen.get(name)}>`;
    };
  };
  const host = numbered('host');
  const address = numbered('address');
  let text = markdown
    .replace(link, '$1')
    .replace(assigned, '$1<secret>')
    .replace(wellKnown, '<secret>')
    .replace(mail, '<mail>')
    .replace(unixPath, '.../$1')
    .replace(windowsPath, '...\\$1')
    .replace(address6, address)
    .replace(address4, address);
  for (const name of hosts(report)) {
    text = text.replace(new RegExp(`(?<![\\w.-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`, 'g'), () => host(name));
  }
  return text;
}

/** Every host that the report names, the longest first: one may begin with another. */
function hosts(report: Report): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (value && typeof value === 'object') {
      const { host } = value as { host?: unknown };
      if (typeof host === 'string' && host !== '') {
        found.add(host);
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(report);
  return [...found].sort((a, b) => b.length - a.length);
}
