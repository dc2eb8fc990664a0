// Logs that come with the extension, to try it without a failure of one's own.
import { promises as fs } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';

export interface Sample {
  readonly file: string;
  readonly label: string;
  readonly detail: string;
}

/** The samples, the first for those who only want to see one. esbuild.mjs copies their files. */
export const samples: readonly Sample[] = [
  {
    file: 'sixty-four-ranks.log',
    label: vscode.l10n.t('64 ranks, ten thousand lines'),
    detail: vscode.l10n.t('A CUDA graph capture ran out of memory on one rank; 63 timed out with it.'),
  },
  {
    file: 'plain-oom.log',
    label: vscode.l10n.t('Not the graphs'),
    detail: vscode.l10n.t('The message names graph pools, and they are innocent.'),
  },
  {
    file: 'silent-rank.log',
    label: vscode.l10n.t('Not known yet'),
    detail: vscode.l10n.t('All ranks waited for one that says nothing: which fact is missing?'),
  },
];

/** Asks which, and reads it. */
export async function chooseSample(extensionDir: string): Promise<{ name: string; text: string } | undefined> {
  const chosen = await vscode.window.showQuickPick([...samples], { placeHolder: vscode.l10n.t('A sample to diagnose') });
  return chosen && { name: path.parse(chosen.file).name, text: await readSample(extensionDir, chosen) };
}

async function readSample(extensionDir: string, { file }: Sample): Promise<string> {
  return fs.readFile(path.join(extensionDir, 'dist', 'samples', file), 'utf8');
}
