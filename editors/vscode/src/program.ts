// Finds the graphtrap program and makes sure that it runs.
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { l10n } from 'vscode';

/** A place where the program should be, and who said so. */
export interface Program {
  readonly path: string;
  readonly from: 'setting' | 'extension' | 'PATH';
}

/** The program could not be started; the message is for the user. */
export class ProgramError extends Error {}

const probeTimeoutMs = 10_000;

/** The program to use: what the setting says, else the one in the extension, else the one on the PATH. */
export function locate(setting: string, extensionDir: string, searchPath: string): Program {
  if (setting !== '') {
    if (!path.isAbsolute(setting)) {
      throw new ProgramError(l10n.t('The setting graphtrap.server.path is "{0}": it must be an absolute path.', setting));
    }
    return { path: setting, from: 'setting' };
  }
  const name = process.platform === 'win32' ? 'graphtrap.exe' : 'graphtrap';
  const bundled = path.join(extensionDir, 'server', name);
  if (existsSync(bundled)) {
    return { path: bundled, from: 'extension' };
  }
  for (const dir of searchPath.split(path.delimiter)) {
    const candidate = path.join(dir, name);
    if (path.isAbsolute(dir) && isFile(candidate)) {
      return { path: candidate, from: 'PATH' };
    }
  }
  throw new ProgramError(
    l10n.t(
      'There is no graphtrap in the extension ({0}) nor on the PATH. Install graphtrap, or set graphtrap.server.path to the program.',
      bundled,
    ),
  );
}

/** Runs `graphtrap version` and returns what it prints. */
export async function probe(program: Program): Promise<string> {
  const who = {
    setting: l10n.t('the setting graphtrap.server.path names it'),
    extension: l10n.t('it came with the extension'),
    PATH: l10n.t('it was found on the PATH'),
  }[program.from];
  const todo = l10n.t('Install graphtrap for this machine, or set graphtrap.server.path to a program that runs.');
  if (!existsSync(program.path)) {
    throw new ProgramError(l10n.t('{0} does not exist ({1}). {2}', program.path, who, todo));
  }
  try {
    const { stdout } = await promisify(execFile)(program.path, ['version'], { timeout: probeTimeoutMs });
    return stdout.trim();
  } catch (err) {
    throw new ProgramError(l10n.t('"{0} version" failed ({1}): {2}. {3}', program.path, who, reason(err), todo));
  }
}

function isFile(candidate: string): boolean {
  return statSync(candidate, { throwIfNoEntry: false })?.isFile() ?? false;
}

function reason(err: unknown): string {
  const failed = err as Error & { code?: number | string; killed?: boolean; stderr?: string };
  if (failed.killed) {
    return l10n.t('no answer in {0} s', probeTimeoutMs / 1000);
  }
  const line = failed.stderr?.trim().split('\n').at(-1);
  if (line) {
    return line;
  }
  return typeof failed.code === 'number' ? l10n.t('exit status {0}', failed.code) : failed.message;
}
