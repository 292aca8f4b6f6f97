/** The stream of a run that has ended, as a list to read. */
import type { Replay, ReplayedEvent } from './api.ts';

const mostEvents = 1000;
const longestText = 20_000;
/** Fields of a chunk that its text does not repeat. */
const namesOfChunk: ReadonlySet<string> = new Set(['type', 'id', 'toolCallId', 'messageId']);

type Chunk = Readonly<Record<string, unknown>> & { readonly type: string };

/** `stream`: server-sent events, each with an id and a chunk of the AI SDK's protocol. */
export function replayOf(stream: string): Replay {
  const events: (ReplayedEvent & { readonly part: unknown })[] = [];
  for (const { id, chunk } of chunksOf(stream)) {
    const part = chunk.id ?? chunk.toolCallId;
    const delta = chunk.delta ?? chunk.inputTextDelta;
    const last = events.at(-1);
    if (typeof delta === 'string' && last?.type === chunk.type && last.part === part) {
      events[events.length - 1] = { ...last, id, pieces: last.pieces + 1, text: cut(last.text + delta) };
      continue;
    }
    if (events.length === mostEvents) return { events, isCut: true };
    events.push({
      id,
      type: chunk.type,
      pieces: 1,
      text: cut(typeof delta === 'string' ? delta : textOf(chunk)),
      part,
    });
  }
  return { events: events.map(({ part: _part, ...event }) => event), isCut: false };
}

function* chunksOf(stream: string): Generator<{ readonly id: string; readonly chunk: Chunk }> {
  for (const frame of stream.split('\n\n')) {
    const id = /^id: ?(.*)$/m.exec(frame)?.[1] ?? '';
    const data = /^data: ?(.*)$/m.exec(frame)?.[1];
    if (data === undefined || data === '[DONE]') continue;
    yield { id, chunk: JSON.parse(data) as Chunk };
  }
}

function textOf(chunk: Chunk): string {
  const rest = Object.fromEntries(Object.entries(chunk).filter(([name]) => !namesOfChunk.has(name)));
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest);
}

const cut = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)} …` : text);
