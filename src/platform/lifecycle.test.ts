import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';

const program = `
import { stopRequested } from '#platform/lifecycle.ts';
stopRequested();
setInterval(() => undefined, 1000);
process.send('waiting');`;

it('ends the process immediately if its launcher is killed', async () => {
  // The channel to the launcher closes when the launcher dies.
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([1, null]);
});
