/** What an event log promises (eventlog.ts), for every driver. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Batch, EventLog, FencedKey } from '#agent/eventlog/eventlog.ts';

export interface LogUnderTest {
  readonly eventLog: EventLog;
  /** The same log as another process has it. */
  readonly other: EventLog;
  /** A run in our hands, by the database. */
  newRun(): Promise<FencedKey>;
  /** It goes into other hands: gives it with its new fence. */
  takeOver(run: FencedKey): Promise<FencedKey>;
  close(): Promise<void>;
}

export function eventLogSuite(open: () => Promise<LogUnderTest>): void {
  let log: LogUnderTest;
  beforeAll(async () => {
    log = await open();
  });
  afterAll(() => log.close());

  const batch = (firstSeq: number, count = 1, isLast = false): Batch => ({
    firstSeq,
    lastSeq: firstSeq + count - 1,
    events: Array.from({ length: count }, (_, index) =>
      JSON.stringify({ type: 'x', n: firstSeq + index, t: 'ä\\n\u2028' }),
    ),
    isLast,
  });
  const append = async (run: FencedKey, ...batches: readonly Batch[]) => {
    for (const one of batches) expect(await log.eventLog.append(run, one)).toBe('appended');
  };

  it('returns the appended events, from any event on', async () => {
    const run = await log.newRun();
    const batches = [batch(1), batch(2, 3), batch(5, 1, true)];
    await append(run, ...batches);
    expect(await log.other.read(run, 0)).toEqual(batches);
    // In the midst of a batch: the batch is given whole, as it is one.
    expect(await log.other.read(run, 2)).toEqual(batches.slice(1));
    expect(await log.other.read(run, 4)).toEqual(batches.slice(2));
    expect(await log.other.read(run, 5)).toEqual([]);
    expect(await log.other.read(run, 1_000_000)).toEqual([]);
    expect(await log.other.read(await log.newRun(), 0)).toEqual([]);
  });

  it('pages through long logs', async () => {
    const run = await log.newRun();
    for (let seq = 1; seq <= 1100; seq++) await log.eventLog.append(run, batch(seq));
    let afterSeq = 0;
    for (;;) {
      const page = await log.eventLog.read(run, afterSeq);
      if (page.length === 0) break;
      expect(page[0]?.firstSeq).toBe(afterSeq + 1);
      afterSeq = page.at(-1)?.lastSeq ?? afterSeq;
    }
    expect(afterSeq).toBe(1100);
  });

  it('writes a repeated batch once', async () => {
    const run = await log.newRun();
    await append(run, batch(1, 2), batch(1, 2), batch(3), batch(3));
    expect((await log.eventLog.read(run, 0)).map(({ lastSeq }) => lastSeq)).toEqual([2, 3]);
  });

  it('rejects appends with a stale fence, before and after the new writer’s first append', async () => {
    const run = await log.newRun();
    await append(run, batch(1));
    const taken = await log.takeOver(run);
    await log.eventLog.claim(taken);
    expect(await log.eventLog.append(run, batch(2))).toBe('fenced');
    await append(taken, batch(2, 1, true));
    expect(await log.eventLog.append(run, batch(2, 2))).toBe('fenced');
    expect(await log.eventLog.append(run, batch(3))).toBe('fenced');
    expect(await log.eventLog.read(run, 0)).toHaveLength(2);
  });

  it('of an old and a new hand that write at once, no event of the old follows one of the new', async () => {
    for (let round = 0; round < 20; round++) {
      const run = await log.newRun();
      await append(run, batch(1));
      const [stale] = await Promise.all([
        log.eventLog.append(run, batch(2)),
        log.takeOver(run).then((taken) => log.eventLog.claim(taken)),
      ]);
      const seen = await log.other.read(run, 0);
      expect(seen).toHaveLength(stale === 'appended' ? 2 : 1);
      expect(await log.eventLog.append(run, batch(seen.length + 1))).toBe('fenced');
    }
  });

  it('delivers each batch once, in order, to followers in other processes, from their position', async () => {
    const run = await log.newRun();
    await append(run, batch(1), batch(2));
    const seen: number[][] = [[], []];
    const leave = [0, 1].map((index) =>
      log.other.follow(run, index, ({ lastSeq }) => {
        seen[index]?.push(lastSeq);
      }),
    );
    for (let seq = 3; seq <= 60; seq++) {
      await append(run, batch(seq));
      if (seq % 7 === 0) await sleep(5);
    }
    await expect.poll(() => seen.map((list) => list.length), { timeout: 10_000 }).toEqual([60, 59]);
    expect(seen[0]).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(seen[1]).toEqual(Array.from({ length: 59 }, (_, index) => index + 2));
    for (const go of leave) go();
    await append(run, batch(61));
    await sleep(500);
    expect(seen[0]).toHaveLength(60);
  });

  it('drops removed runs only', async () => {
    const [gone, kept] = [await log.newRun(), await log.newRun()];
    await append(gone, batch(1));
    await append(kept, batch(1));
    await log.eventLog.remove([gone.taskId, randomUUID()]);
    await log.eventLog.remove([]);
    expect(await log.eventLog.read(gone, 0)).toEqual([]);
    expect(await log.eventLog.read(kept, 0)).toHaveLength(1);
  });
}
