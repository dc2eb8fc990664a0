// What happens before and when the first log is opened.
import * as assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { api, extension, openCase, until } from './editor';

export function start(): void {
  test('activates and starts no server when no log is open', async function () {
    const cpu = process.cpuUsage();
    const wall = performance.now();
    await extension().activate();
    const wallMs = performance.now() - wall;
    const { user, system } = process.cpuUsage(cpu);
    // Told, not asserted: on a busy machine the time that passed says little.
    this.test!.title += `: ${wallMs.toFixed(0)} ms, of which ${((user + system) / 1000).toFixed(0)} on the processor`;
    assert.equal(api().client.state, 'off');
  });

  test('starts the server with the first log', async () => {
    await openCase();
    await until('the server runs', () => api().client.state === 'running');
    assert.match(api().client.version ?? '', /^graphtrap /);
  });
}
