// The tests that VS Code runs inside its extension host, on a workspace of two folders.
import { answers } from './answers';
import { commands } from './commands';
import { disk } from './disk';
import { runSuites } from './editor';
import { server } from './server';
import { start } from './start';
import { terminals } from './terminals';

export function run(): Promise<void> {
  return runSuites({ start, answers, commands, disk, terminals, server });
}
