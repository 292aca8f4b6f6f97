/** What the routes use, beside what runs use. */

import type { AgentContext } from './context.ts';
import type { RunExecutor } from './runs/execution.ts';
import type { Reaper } from './runs/reaper.ts';
import type { StreamReaders } from './stream/readers.ts';
import type { UserEventReaders } from './userevents/readers.ts';

export interface ServingContext extends AgentContext {
  readonly executor: RunExecutor;
  readonly reaper: Reaper;
  readonly readers: StreamReaders;
  readonly userEventReaders: UserEventReaders;
  /** The asset of one of our signed URLs. */
  readonly assetOfUrl: (url: string) => string | undefined;
  /** For tests. */
  readonly pace?: DeletionPace | undefined;
}

/** For tests. */
export interface DeletionPace {
  readonly stoppingMs?: number;
  readonly takeOverAfterMs?: number;
  readonly clearAfterMs?: number;
  readonly emptyTrashEveryMs?: number;
}
