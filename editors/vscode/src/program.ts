// Finds the graphtrap program and makes sure that it runs.
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';

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
      throw new ProgramError(`The setting graphtrap.server.path is "${setting}": it must be an absolute path.`);
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
    `There is no graphtrap in the extension (${bundled}) nor on the PATH. ` +
      'Install graphtrap, or set graphtrap.server.path to the program.',
  );
}

/** Runs `graphtrap version` and returns what it prints. */
export async function probe(program: Program): Promise<string> {
  const who = {
    setting: 'the setting graphtrap.server.path names it',
    extension: 'it came with the extension',
    PATH: 'it was found on the PATH',
  }[program.from];
  const todo = 'Install graphtrap for this machine, or set graphtrap.server.path to a program that runs.';
  if (!existsSync(program.path)) {
    throw new ProgramError(`${program.path} does not exist (${who}). ${todo}`);
  }
  try {
    const { stdout } = await promisify(execFile)(program.path, ['version'], { timeout: probeTimeoutMs });
    return stdout.trim();
  } catch (err) {
    throw new ProgramError(`"${program.path} version" failed (${who}): ${reason(err)}. ${todo}`);
  }
}

function isFile(candidate: string): boolean {
  return statSync(candidate, { throwIfNoEntry: false })?.isFile() ?? false;
}

function reason(err: unknown): string {
  const failed = err as NodeJS.ErrnoException & { killed?: boolean; stderr?: string };
  if (failed.killed) {
    return `no answer in ${probeTimeoutMs / 1000} s`;
  }
  const line = failed.stderr?.trim().split('\n').at(-1);
  if (line) {
    return line;
  }
  return typeof failed.code === 'number' ? `exit status ${failed.code}` : failed.message;
}
