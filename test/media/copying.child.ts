/** A process that copies one asset and is killed on the way. */
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { type CopyOf, copyDeps, copyOutcome } from './copying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';

interface CopyOrders extends CrashOrders {
  readonly what: CopyOf;
}

await obey<CopyOrders>(import.meta.filename, ({ dataDir, what }, database, interrupt) =>
  copyOutcome(interrupted(copyDeps(database, dataDir), interrupt), what),
);
