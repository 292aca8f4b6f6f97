/** The event buffers of this process: one for each run that it executes or that a client reads here. */
import { startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Batch, EventId, EventLog } from '../eventlog/eventlog.ts';
import { isOver, listRuns, type Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { findMessage } from '../threads/messagestore.ts';
import { replayRun } from './replay.ts';
import { RunEventBuffer } from './runbuffer.ts';

export interface OpenBuffer {
  readonly buffer: RunEventBuffer;
  /** The event after which the reader continues. Infinite: its id is beyond the end. */
  readonly afterSeq: number;
  /** Has to be called once when the reader leaves; further calls do nothing. */
  leave(): void;
}

const watchEveryMs = 2000;

export interface RunBuffersOptions {
  readonly db: Db<AgentTables>;
  readonly eventLog: EventLog;
  readonly log: Log;
}

export class RunEventBuffers {
  readonly #deps: RunBuffersOptions;
  readonly #buffers = new Map<string, RunEventBuffer>();
  readonly #watching: { stop(): Promise<void> };

  constructor(deps: RunBuffersOptions) {
    this.#deps = deps;
    this.#watching = startInterval(
      watchEveryMs,
      () => this.#concludeEnded(),
      (error) => deps.log.warn({ err: error }, 'could not read the ends of followed runs'),
    );
  }

  /** For one more reader. Throws `engine_unavailable` when the log does not answer. */
  async open(run: Run, lastEventId: EventId | undefined): Promise<OpenBuffer> {
    const buffer = this.#bufferOf(run);
    buffer.addReader();
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      buffer.removeReader();
      this.#dropUnused(buffer);
    };
    try {
      await buffer.load(run);
      return { buffer, afterSeq: await buffer.positionOf(lastEventId), leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** For the process that executes the run. `shown`: all batches that the log has. */
  own(run: Run, shown: readonly Batch[] = []): OwnedRunBuffer {
    const buffer = this.#bufferOf(run);
    for (const batch of shown) buffer.append(batch);
    buffer.takeOwnership();
    return new OwnedRunBuffer(buffer, () => this.#dropUnused(buffer));
  }

  close(): void {
    void this.#watching.stop();
  }

  #bufferOf(run: Run): RunEventBuffer {
    const known = this.#buffers.get(run.taskId);
    if (known !== undefined) return known;
    const { db, eventLog, log } = this.#deps;
    const replay = async (ended: Run, afterSeq: number) =>
      replayRun(ended, afterSeq, await findMessage(db, ended.threadId, ended.messageId));
    const buffer = new RunEventBuffer(run, { eventLog, log, replay });
    this.#buffers.set(run.taskId, buffer);
    return buffer;
  }

  #dropUnused(buffer: RunEventBuffer): void {
    if (!buffer.isUnused) return;
    buffer.close();
    if (this.#buffers.get(buffer.run.taskId) === buffer) this.#buffers.delete(buffer.run.taskId);
  }

  /** A run whose row has ended and whose log has no end: its process died in between, or the log is lost. */
  async #concludeEnded(): Promise<void> {
    const followed = [...this.#buffers.values()].filter((buffer) => buffer.isFollowing);
    if (followed.length === 0) return;
    const found = await listRuns(
      this.#deps.db,
      followed.map(({ run }) => run.taskId),
    );
    const runs = new Map(found.map((run) => [run.taskId, run]));
    await Promise.all(
      followed.map(async (buffer) => {
        // The runs of a deleted thread were aborted, and their rows are gone.
        const run = runs.get(buffer.run.taskId) ?? { ...buffer.run, status: 'aborted' };
        if (isOver(run)) await buffer.conclude(run);
      }),
    );
  }
}

/** The buffer, for the process that executes the run. */
export class OwnedRunBuffer {
  readonly #buffer: RunEventBuffer;
  readonly #dropUnused: () => void;

  constructor(buffer: RunEventBuffer, dropUnused: () => void) {
    this.#buffer = buffer;
    this.#dropUnused = dropUnused;
  }

  /** Only what the log has acknowledged. */
  append(batch: Parameters<RunEventBuffer['append']>[0]): void {
    this.#buffer.append(batch);
    this.#dropUnused();
  }

  /** Another process executes the run from now on: its readers get new events from the log. */
  release(): void {
    this.#buffer.releaseOwnership();
    this.#dropUnused();
  }
}
