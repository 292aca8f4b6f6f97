/** What holds of every run that has ended, however it did. */
import { expect } from 'vitest';
import type { Chatter } from './rig.fixture.ts';
import { type SeenEvent, textOf, withoutVoid } from './stream.fixture.ts';

interface Ran {
  readonly threadId: string;
  readonly taskId: string;
}

const lastEvents = { completed: 'finish', aborted: 'abort', failed: 'error', running: 'none', queued: 'none' } as const;

/** For each reader: events are numbered from 1 without gaps, and the last one is the outcome. No shown event is lost. */
export async function expectKept(user: Chatter, { threadId, taskId }: Ran, events: readonly SeenEvent[]) {
  const { status } = await user.task(taskId);
  const [epoch] = (events[0]?.id ?? '').split('-');
  expect(events.map(({ id }) => id)).toEqual(events.map((_event, index) => `${epoch}-${index + 1}`));
  expect(events.at(-1)?.data.type).toBe(lastEvents[status]);
  const answer = (await user.messages(threadId)).find(({ metadata }) => metadata.taskId === taskId);
  const parts = answer?.parts ?? [];
  const kept = parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('');
  expect(kept.startsWith(textOf(events))).toBe(true);
  for (const { data } of withoutVoid(events)) {
    if (data.type === 'tool-input-available')
      expect(parts).toContainEqual(expect.objectContaining({ toolCallId: data.toolCallId }));
    if (data.type !== 'tool-output-available') continue;
    const part = parts.find(({ toolCallId }) => toolCallId === data.toolCallId);
    expect([part?.state, storedOutputOf(part?.output)]).toEqual(['output-available', storedOutputOf(data.output)]);
  }
  return { status, kept };
}

/** Each read of messages signs URLs again, and contains the current state of videos. */
function storedOutputOf(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || !('kind' in output)) return output;
  const { kind, videoId, assetId } = output as Record<string, unknown>;
  return kind === 'video' ? { videoId } : { assetId };
}

/** Each read of a stream signs URLs again. */
const unsigned = ({ id, data }: SeenEvent) => ({
  id,
  data: JSON.parse(JSON.stringify(data, (key, value) => (/^(url|thumbUrl)$/.test(key) ? undefined : value))),
});

/** As `expectKept`. Also, all readers, later readers and the messages have exactly the same text. */
export async function expectEnded(user: Chatter, run: Ran, readers: readonly (readonly SeenEvent[])[]) {
  const whole = await user.stream(run.taskId);
  expect([whole.done, whole.closed]).toEqual([true, true]);
  for (const events of readers) expect(events.map(unsigned)).toEqual(whole.events.map(unsigned));
  const { status, kept } = await expectKept(user, run, whole.events);
  expect(kept).toBe(textOf(whole.events));
  expect((await user.call('GET', `/thread/${run.threadId}/current-task`)).body).toEqual({ task: null });
  return status;
}

const costs: Readonly<Record<string, number>> = { image: 2, video: 40 };

/**
 * What is to be paid of what these threads show: for an answer 1, also if it was aborted after it showed something; for a
 * image 2, for a video 40.
 */
export async function owedFor(user: Chatter, threadIds: readonly string[]): Promise<number> {
  const threads = await Promise.all(threadIds.map((threadId) => user.messages(threadId)));
  return threads.flat().reduce((sum, { metadata, parts }) => {
    // A tool shows its video too: counted once, by the part that is there in any case.
    const shown = parts.flatMap(({ type, data, output }) =>
      type === 'data-video' ? [data] : type.endsWith('Image') ? [output] : [],
    );
    const media = (shown as { kind: string; status: string }[]).filter((one) => one?.status === 'completed');
    const isPaid = metadata.status === 'completed' || (metadata.status === 'aborted' && parts.some(isShown));
    return media.reduce((all, { kind }) => all + (costs[kind] ?? 0), sum + (isPaid ? 1 : 0));
  }, 0);
}

const isShown = ({ type, text }: Record<string, unknown>) => type !== 'step-start' && text !== '';
