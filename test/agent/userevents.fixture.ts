/** Listens at `GET /events` as a page does. */
import type { Chatter } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

export interface Listening {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly SeenEvent[];
  /** The id to resume from, also before the first event. */
  readonly lastEventId: () => string;
  readonly comments: () => number;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the server has responded. */
export async function listen(
  url: string,
  { credential }: Pick<Chatter, 'credential'>,
  from?: string,
): Promise<Listening> {
  const controller = new AbortController();
  const headers = { ...credential, ...(from === undefined ? {} : { 'last-event-id': from }) };
  const response = await fetch(`${url}/events`, { headers, signal: controller.signal });
  const events: SeenEvent[] = [];
  let lastEventId = '';
  let comments = 0;
  async function read(): Promise<void> {
    let rest = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        if (frame.startsWith(':')) comments += 1;
        const [id] = /(?<=^id: )\d+$/m.exec(frame) ?? [];
        const [data] = /(?<=^data: ).*$/m.exec(frame) ?? [];
        if (id !== undefined) lastEventId = id;
        if (id !== undefined && data !== undefined) events.push({ id, data: JSON.parse(data) });
      }
    }
  }
  const ended = read().catch(() => undefined);
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastEventId: () => lastEventId,
    comments: () => comments,
    ended,
    close: async () => {
      controller.abort();
      await ended;
    },
  };
}

export const typesOf = (events: readonly SeenEvent[]): readonly string[] => events.map(({ data }) => data.type);
