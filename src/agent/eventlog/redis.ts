/**
 * The event log in Redis: a stream for each run, an entry for each batch, named by its last event's id. One script
 * compares the fence and writes. Nothing is trimmed: a reader would pass over the gap without noticing.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#platform/log.ts';
import type { Redis, RedisClient } from '#platform/redis/redis.ts';
import type { Appended, Batch, EventLog, LogKey } from './eventlog.ts';

export interface RedisLogOptions {
  readonly redis: Redis;
  readonly log: Log;
  /** How long the stream of an ended run is stored. */
  readonly ttlS: number;
}

const batchesAtOnce = 500;
/** For a run that was never ended. The reaper ends runs much earlier. */
const forgottenAfterS = 7 * 86_400;
/** The longest time until new followers are noticed. */
const blockMs = 200;
const afterErrorMs = 300;
const timeoutMs = 2000;

/**
 * KEYS: stream, fence. ARGV: fence, id, id of the batch before (or empty), first seq, events, is last, seconds to keep.
 * The batch before has to be the last there is: otherwise a part of the log is lost, and a gap would open.
 */
const appendScript = `
local held = redis.call('GET', KEYS[2])
if held and tonumber(held) > tonumber(ARGV[1]) then return 'fenced' end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local lastId = #last == 0 and '' or last[1][1]
if lastId == ARGV[2] then return 'appended' end
if lastId ~= ARGV[3] then return 'vanished' end
redis.call('XADD', KEYS[1], ARGV[2], 'f', ARGV[4], 'e', ARGV[5], 'l', ARGV[6])
redis.call('SET', KEYS[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[7])
redis.call('EXPIRE', KEYS[2], ARGV[7])
return 'appended'`;
const appendHash = createHash('sha1').update(appendScript).digest('hex');

const claimScript = `
local held = redis.call('GET', KEYS[1])
if not held or tonumber(held) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
return 'ok'`;

interface Follower {
  readonly run: LogKey;
  afterSeq: number;
  readonly onBatch: (batch: Batch) => void;
}

type Entry = { readonly id: string; readonly message: Readonly<Record<string, string>> };

export async function openRedisLog({ redis, log, ttlS }: RedisLogOptions): Promise<EventLog> {
  // The braces keep the keys of a run on one node of a cluster.
  const streamOf = (taskId: string) => `${redis.prefix}agent:{${taskId}}:events`;
  const fenceOf = (taskId: string) => `${redis.prefix}agent:{${taskId}}:fence`;
  const blocking = await redis.openBlocking('event log');
  const followers = new Set<Follower>();
  const closing = new AbortController();
  let pumping: Promise<void> | undefined;

  function startPump(): void {
    if (followers.size === 0 || closing.signal.aborted) return;
    pumping ??= pump().finally(() => {
      pumping = undefined;
      // A follower can come after the last check of the loop and before this.
      startPump();
    });
  }

  async function pump(): Promise<void> {
    while (followers.size > 0 && !closing.signal.aborted) {
      try {
        await readNew();
      } catch (error) {
        // Followers continue where they were.
        if (closing.signal.aborted) return;
        log.warn({ err: error }, 'new events could not be read');
        await sleep(afterErrorMs);
      }
    }
  }

  async function readNew(): Promise<void> {
    const client = blocking.client();
    if (client === undefined) throw new Error('Redis is not connected');
    // Of two followers of one run the one that is further behind decides.
    const from = new Map<string, Follower>();
    for (const follower of followers) {
      const known = from.get(follower.run.taskId);
      if (known === undefined || known.afterSeq > follower.afterSeq) from.set(follower.run.taskId, follower);
    }
    const requested = [...from.values()];
    const streams = requested.map(({ run, afterSeq }) => ({
      key: streamOf(run.taskId),
      id: `${run.epochMs}-${afterSeq}`,
    }));
    const found = (await client.xRead(streams, { BLOCK: blockMs, COUNT: 100 })) as
      | { name: string; messages: Entry[] }[]
      | null;
    for (const { name, messages } of found ?? []) {
      const taskId = requested.find(({ run }) => streamOf(run.taskId) === name)?.run.taskId;
      for (const follower of [...followers].filter(({ run }) => run.taskId === taskId)) deliver(follower, messages);
    }
  }

  function deliver(follower: Follower, entries: readonly Entry[]): void {
    for (const batch of entries.map(toBatch)) {
      if (!followers.has(follower) || batch.lastSeq <= follower.afterSeq) continue;
      follower.afterSeq = batch.lastSeq;
      follower.onBatch(batch);
    }
  }

  return {
    append: (run, batch) => {
      const call = {
        keys: [streamOf(run.taskId), fenceOf(run.taskId)],
        arguments: [
          String(run.fence),
          `${run.epochMs}-${batch.lastSeq}`,
          batch.firstSeq === 1 ? '' : `${run.epochMs}-${batch.firstSeq - 1}`,
          String(batch.firstSeq),
          batch.events.join('\n'),
          batch.isLast ? '1' : '',
          String(batch.isLast ? ttlS : forgottenAfterS),
        ],
      };
      return redis.run(async (client) => (await evaluate(client, call)) as Appended, timeoutMs);
    },
    async claim(run) {
      const call = { keys: [fenceOf(run.taskId)], arguments: [String(run.fence), String(forgottenAfterS)] };
      await redis.run((client) => client.eval(claimScript, call), timeoutMs);
    },
    async read(run, afterSeq) {
      const from = `(${run.epochMs}-${afterSeq}`;
      const entries = await redis.run(
        (client) => client.xRange(streamOf(run.taskId), from, '+', { COUNT: batchesAtOnce }),
        timeoutMs,
      );
      return (entries ?? []).map(toBatch);
    },
    follow(run, afterSeq, onBatch) {
      const follower = { run, afterSeq, onBatch };
      followers.add(follower);
      startPump();
      return () => followers.delete(follower);
    },
    async remove(taskIds) {
      const keys = taskIds.flatMap((taskId) => [streamOf(taskId), fenceOf(taskId)]);
      if (keys.length > 0) await redis.run((client) => client.unlink(keys), timeoutMs);
    },
    async close() {
      closing.abort();
      followers.clear();
      await pumping;
      await blocking.close();
    },
  };
}

/** By its hash; a server that was flushed or replaced does not know it, and learns it. */
async function evaluate(client: RedisClient, call: { keys: string[]; arguments: string[] }): Promise<unknown> {
  try {
    return await client.evalSha(appendHash, call);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(appendScript, call);
  }
}

function toBatch({ id, message }: Entry): Batch {
  return {
    firstSeq: Number(message.f),
    lastSeq: Number(id.split('-')[1]),
    events: (message.e ?? '').split('\n'),
    isLast: message.l === '1',
  };
}
