/**
 * Whether Redis takes our writes. A replica, a full server, one that cannot save, or an ACL without our keys responds to PING
 * and refuses every write, so only a write shows it.
 */
import { startInterval } from '../background/interval.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './redis.ts';

/** The first word of a refusal, and the error of Redis 7 for a script that uses a key that the ACL does not allow. */
const refusal = /^(READONLY|OOM|MISCONF|NOREPLICAS|NOPERM) |ACL failure in script/;

/** Refusals of a demoted primary, which keeps its connections, and of a server that another one may have replaced. */
const replaced = /^(READONLY|MISCONF|NOREPLICAS)/;

/** The server is connected and refuses to write. */
export function isWriteRefused(error: unknown): boolean {
  return error instanceof Error && (refusal.test(error.message) || isWriteRefused(error.cause));
}

export interface WritabilityOptions {
  readonly prefix: string;
  readonly run: (call: (client: RedisClient) => Promise<unknown>) => Promise<unknown>;
  /** See `Redis.leave`. */
  readonly leave: () => boolean;
  readonly log: Log;
  readonly everyMs: number;
}

const keptMs = 60_000;

/** Logs every change. Leaves a server that another one may have replaced. */
export function watchWrites({ prefix, run, leave, log, everyMs }: WritabilityOptions) {
  let isWritable: boolean | undefined;

  /** Writes now. Throws if the server refuses or does not respond. */
  async function probe(): Promise<void> {
    try {
      await run((client) => client.set(`${prefix}probe`, '1', { expiration: { type: 'PX', value: keptMs } }));
    } catch (error) {
      if (!isWriteRefused(error)) isWritable = undefined;
      else if (isWritable !== false) {
        isWritable = false;
        log.warn({ reason: reasonOf(error) }, 'Redis refuses writes; runs use the event log in the database');
      }
      if (replaced.test(reasonOf(error))) leave();
      throw error;
    }
    if (isWritable === false) log.info('Redis accepts writes again');
    isWritable = true;
  }

  const probing = startInterval(everyMs, probe, () => undefined);
  return {
    /** `undefined`: not known, because the server does not respond. */
    get isWritable() {
      return isWritable;
    },
    probe,
    close: (): void => void probing.stop(),
  };
}

/** The server's own error message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
