/** Streams at their edges, on both event logs: ids that lead nowhere, logs that are gone, silence, readers who do not read. */
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventLog } from '#agent/eventlog/open.ts';
import type { AgentTables } from '#agent/tables.ts';
import { offlineModel } from '#local/model/model.ts';
import { createLog } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { inLane, isNightly } from '../lane.fixture.ts';
import { embedded } from '../media/rig.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../redis.fixture.ts';
import { expectEnded } from './ends.fixture.ts';
import { follow } from './instances.fixture.ts';
import { type AgentRig, type Chatter, newThread, startAgent, testSettings } from './rig.fixture.ts';
import { type SeenStream, textOf } from './stream.fixture.ts';

const drivers = [
  { name: 'the database', missing: false, openRedis: async () => undefined },
  { name: 'Redis', missing: skipWithoutRedis, openRedis: () => openTestRedis() },
];
const floodBytes = 6 * 1024 * 1024;
/** A batch at most, and what the socket has of its own. */
const heldBytes = 512 * 1024;
const ttlS = 3;

/** The offline model. `/flood` returns more than a socket buffers, and `/silent` one word and then nothing until it is stopped. */
const model: LanguageModelV4 = {
  ...offlineModel,
  doStream: async (options) => {
    const asked = JSON.stringify(options.prompt.at(-1));
    if (asked.includes('/flood')) return { stream: ReadableStream.from(say(floodBytes)) };
    if (asked.includes('/silent')) return { stream: speakOnce() };
    return offlineModel.doStream(options);
  },
};
const first: LanguageModelV4StreamPart = { type: 'text-start', id: 't' };

/** One word, and no other. */
function speakOnce(): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(first);
      controller.enqueue({ type: 'text-delta', id: 't', delta: 'Well' });
    },
  });
}

async function* say(bytes: number): AsyncGenerator<LanguageModelV4StreamPart> {
  const piece = 'flood '.repeat(10_000);
  yield first;
  for (let said = 0; said < bytes; said += piece.length) yield { type: 'text-delta', id: 't', delta: piece };
  yield { type: 'text-end', id: 't' };
  const none = { total: undefined };
  const usage = {
    inputTokens: { ...none, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { ...none, text: undefined, reasoning: undefined },
  };
  yield { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } };
}

describe.each(inLane(drivers))('streams whose log is in $name', ({ missing, openRedis }) => {
  describe.skipIf(missing)('', () => {
    let redis: Redis | undefined;
    let rig: AgentRig;
    /** With times that a test can wait for. */
    let hasty: AgentRig;
    let user: Chatter;
    let idle: Promise<SeenStream>;

    beforeAll(async () => {
      redis = await openRedis();
      const pace = { heartbeatEveryMs: 100, stalledAfterMs: 300 };
      rig = await startAgent(embedded, { redis, offlineModel: model });
      hasty = await startAgent(embedded, { redis, offlineModel: model, pace });
      user = await rig.user();
      // The last test reads it.
      const taskId = await user.ask(newThread(), '/silent');
      idle = user.stream(taskId, { cutAfterMs: 15_000 });
    });
    afterAll(async () => {
      await Promise.all([rig.close(), hasty.close()]);
      await redis?.close();
    });

    const epochOf = ({ events }: SeenStream) => Number(events[0]?.id.split('-')[0]);

    it('a malformed id: 400', async () => {
      const taskId = await user.ask(newThread(), '/silent');
      for (const id of ['', 'x', '1', '1-', '-1', '1-2-3', '01-1', '1 -1', '1-1x', `1-${'9'.repeat(16)}`]) {
        const { status, body } = await user.call('GET', `/stream/${taskId}`, undefined, { 'last-event-id': id });
        expect([id, status, body.error]).toEqual([id, 400, 'invalid_request']);
      }
      await user.call('DELETE', `/task/${taskId}`);
    });

    it('an id from beyond the end is answered at once, while the run lives and after it', async () => {
      const taskId = await user.ask(newThread(), '/silent');
      const epoch = epochOf(await user.stream(taskId, { cutAfter: 1 }));
      const beyond = [`${epoch}-5000`, `${epoch}-3000000000`, `${epoch}-${'9'.repeat(15)}`, `${'9'.repeat(15)}-1`];
      const answers = async () => {
        for (const lastEventId of beyond) {
          const seen = await user.stream(taskId, { lastEventId });
          expect([seen.status, seen.events, seen.done]).toEqual([200, [], true]);
        }
      };
      await answers();
      expect((await user.task(taskId)).status).toBe('running');
      await user.call('DELETE', `/task/${taskId}`);
      await user.ended(taskId);
      await answers();
      const { events: all } = await user.stream(taskId);
      for (const [index, { id: lastEventId }] of all.entries())
        expect((await user.stream(taskId, { lastEventId })).events).toEqual(all.slice(index + 1));
    });

    it('an id of an earlier run starts at the first event, and one of a later run is beyond the end', async () => {
      const threadId = newThread();
      const taskIds = [await user.ask(threadId, 'one'), ''];
      await user.ended(taskIds[0] as string);
      taskIds[1] = await user.ask(threadId, 'two');
      const [earlier, later] = (await Promise.all(taskIds.map((taskId) => user.stream(taskId)))) as [
        SeenStream,
        SeenStream,
      ];
      expect(epochOf(later)).toBeGreaterThan(epochOf(earlier));
      for (const { id: lastEventId } of earlier.events)
        expect((await user.stream(taskIds[1] as string, { lastEventId })).events).toEqual(later.events);
      for (const { id: lastEventId } of later.events) {
        const seen = await user.stream(taskIds[0] as string, { lastEventId });
        expect([seen.status, seen.events, seen.done]).toEqual([200, [], true]);
      }
    });

    it('replays a lost log from the message, under new ids that can be resumed', async () => {
      const threadId = newThread();
      const taskId = await user.ask(threadId, 'Remember that I am fond of evenings');
      const before = await user.stream(taskId);
      const db = rig.media.database.queries<AgentTables>();
      const eventLog = await openEventLog({ db, redis, log: createLog({ level: 'silent' }), ttlS: 60 });
      await eventLog.remove([taskId]);
      await eventLog.close();
      const again = await user.stream(taskId);
      expect([epochOf(again), textOf(again.events)]).toEqual([epochOf(before) + 1, textOf(before.events)]);
      const outputs = ({ events }: SeenStream) =>
        events.flatMap(({ data }) => (data.type === 'tool-output-available' ? [data.output] : []));
      expect(outputs(again)).toEqual(outputs(before));
      await expectEnded(user, { threadId, taskId }, [again.events]);
      for (const [index, { id: lastEventId }] of again.events.entries())
        expect((await user.stream(taskId, { lastEventId })).events).toEqual(again.events.slice(index + 1));
      // A reader of the lost stream receives its outcome.
      for (const { id: lastEventId } of before.events)
        expect((await user.stream(taskId, { lastEventId })).events).toEqual(again.events.slice(-1));
    });

    it('a log expires after its run’s end plus the time-to-live; messages remain', async () => {
      const brief = await startAgent(embedded, { redis, settings: { ...testSettings, taskTtlS: ttlS } });
      const guest = await brief.user();
      const threadId = newThread();
      const taskId = await guest.ask(threadId, `/slow ${ttlS + 1}`);
      await guest.ended(taskId);
      await expectEnded(guest, { threadId, taskId }, []);
      await expect.poll(async () => (await guest.call('GET', `/stream/${taskId}`)).status).toBe(404);
      expect((await guest.call('GET', `/task/${taskId}`)).status).toBe(404);
      expect((await guest.messages(threadId)).map(({ role }) => role)).toEqual(['user', 'assistant']);
      const keys = async () => (await redis?.run((client) => client.keys(`*{${taskId}}*`))) ?? [];
      await expect.poll(keys).toEqual([]);
      await brief.close();
    });

    it('stalled readers delay no other and use no memory, and receive everything later', async () => {
      const threadId = newThread();
      const taskId = await user.ask(threadId, '/flood');
      const { responses, stop } = watchStreams(taskId);
      const deaf = await Promise.all(
        Array.from({ length: isNightly ? 10 : 3 }, () =>
          fetch(`${rig.url}/stream/${taskId}`, { headers: user.credential }),
        ),
      );
      const whole = await user.stream(taskId);
      stop();
      expect(textOf(whole.events).length).toBeGreaterThan(floodBytes);
      const held = responses.filter((response) => !response.writableEnded).map((response) => response.writableLength);
      expect(held).toHaveLength(deaf.length);
      expect(Math.max(...held)).toBeLessThan(heldBytes);
      const frames = whole.events.map(({ id, data }) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');
      for (const response of deaf) {
        // Between two frames a heartbeat may stand.
        const text = (await response.text()).replaceAll(/^:.*\n\n/gm, '');
        expect(text === `${frames}data: [DONE]\n\n`).toBe(true);
      }
    });

    it('a reader that stalls too long is dropped, and may resume', async () => {
      const guest = await hasty.user();
      const taskId = await guest.ask(newThread(), '/flood');
      const { responses, stop } = watchStreams(taskId);
      const deaf = await fetch(`${hasty.url}/stream/${taskId}`, { headers: guest.credential });
      await expect.poll(() => responses.map(({ destroyed }) => destroyed)).toEqual([true]);
      stop();
      await expect(deaf.text()).rejects.toThrow();
      expect(textOf(await follow(taskId, [guest])).length).toBeGreaterThan(floodBytes);
    });

    it('an idle stream receives a comment at least every 15 s', async () => {
      const { status, comments, events, closed } = await idle;
      expect([status, closed, events.at(-1)?.data.type]).toEqual([200, false, 'text-delta']);
      expect(comments).toBeGreaterThan(0);
    });
  });
});

/** The answers that the server in this process writes. */
function watchStreams(taskId: string) {
  const responses: ServerResponse[] = [];
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url === `/stream/${taskId}`) responses.push(response);
  };
  diagnostics.subscribe('http.server.request.start', onStart);
  return { responses, stop: () => diagnostics.unsubscribe('http.server.request.start', onStart) };
}
