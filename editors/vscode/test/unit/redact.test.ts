import { expect, test } from 'vitest';
import { redact } from '../../src/redact';
import type { Report } from '../../src/report';

const report: Report = {
  input: { files: [] },
  verdict: { status: 'diagnosed', title: '', initiator: { host: 'gpu-node-2' }, ...{ co_initiators: [{ host: 'gpu-node-21' }] } },
};

test.each([
  ['hosts, the same one alike', 'gpu-node-2 waited for gpu-node-21 and gpu-node-2', '<host-2> waited for <host-1> and <host-2>'],
  ['addresses', 'from 10.0.3.17:29500 to 10.0.3.18', 'from <address-1>:29500 to <address-2>'],
  ['addresses of version 6', 'to fe80:0:0:0:1ff:fe23:4567:890a now', 'to <address-1> now'],
  ['folders', 'in /home/ana/secret-project/train.py, line 3', 'in .../train.py, line 3'],
  ['folders of Windows', 'in C:\\Users\\ana\\train.py', 'in ...\\train.py'],
  ['the home folder', 'in ~/runs/train.py', 'in .../train.py'],
  ['links to files', '[line 3](file:///home/ana/train.log#L3)', 'line 3'],
  ['mail addresses', 'ask ana.b@example.com', 'ask <mail>'],
  ['secrets by their name', 'WANDB_API_KEY=0123456789abcdef x', 'WANDB_API_KEY=<secret> x'],
  ['secrets by their form', 'token hf_abcdefghijklmnopqrst', 'token <secret>'],
])('takes out %s', (_, markdown, redacted) => {
  expect(redact(markdown, report)).toBe(redacted);
});

test.each([
  'See https://pytorch.org/docs/stable/notes/cuda.html for more',
  'Tried to allocate 2.25 GiB at 04:18:02,413, version 2.9.1',
  'with torch.cuda.graph(graph, pool=pool):     # in the loop',
  'engine/graphs.py:29 and 1/2',
  'ranks 0-16, 18-63',
])('leaves alone: %s', (markdown) => {
  expect(redact(markdown, report)).toBe(markdown);
});
