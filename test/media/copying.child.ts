/** A process that copies one asset and is killed on the way. */
import { copyRequest } from '#media/api.ts';
import { copyAsset } from '#media/copying/copying.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { type CopyOf, copyDeps } from './copying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';

interface CopyOrders extends CrashOrders {
  readonly what: CopyOf;
}

// A problem ends the process with its cause, which a failed test prints.
await obey<CopyOrders>(import.meta.filename, async ({ dataDir, what }, database, interrupt) => {
  const deps = interrupted(copyDeps(database, dataDir), interrupt);
  await copyAsset(deps, { kind: 'internal' }, copyRequest.parse(what.request));
  return 'copied';
});
