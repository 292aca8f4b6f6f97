/** Reads a stream as a browser would: events with their ids, comments, and how it ended. */

export interface SeenEvent {
  readonly id: string;
  readonly data: Record<string, unknown> & { readonly type: string };
}

export interface SeenStream {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly SeenEvent[];
  readonly comments: number;
  /** `data: [DONE]` came. */
  readonly done: boolean;
  /** The body came to an end; otherwise we cut it off. */
  readonly closed: boolean;
}

export interface ReadOptions {
  readonly lastEventId?: string | undefined;
  /** After so many events the connection is cut. */
  readonly cutAfter?: number;
  readonly cutAfterMs?: number;
  readonly onEvent?: (event: SeenEvent) => void;
}

export async function readStream(
  url: string,
  credential: Readonly<Record<string, string>>,
  { lastEventId, cutAfter = Number.POSITIVE_INFINITY, cutAfterMs, onEvent }: ReadOptions = {},
): Promise<SeenStream> {
  const cutting = new AbortController();
  const timer = cutAfterMs === undefined ? undefined : setTimeout(() => cutting.abort(), cutAfterMs);
  const headers = { ...credential, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const seen = { events: [] as SeenEvent[], comments: 0, done: false, closed: false };
  const response = await fetch(url, { headers, signal: cutting.signal }).catch((error: unknown) => {
    if (!cutting.signal.aborted && !isCut(error)) throw error;
    return undefined;
  });
  // The connection was lost before a response, or was refused.
  if (response === undefined) return { status: 0, headers: new Headers(), ...seen };
  let rest = '';
  try {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        if (frame.startsWith(':')) seen.comments += 1;
        else if (frame === 'data: [DONE]') seen.done = true;
        else {
          const event = parseFrame(frame);
          seen.events.push(event);
          onEvent?.(event);
        }
        if (seen.events.length >= cutAfter) break;
      }
      if (seen.events.length >= cutAfter) break;
    }
    seen.closed = seen.events.length < cutAfter;
  } catch (error) {
    if (!cutting.signal.aborted && !isCut(error)) throw error;
  } finally {
    clearTimeout(timer);
    cutting.abort();
  }
  return { status: response.status, headers: response.headers, ...seen };
}

/** The other side went away in the midst. */
function isCut(error: unknown): boolean {
  return error instanceof TypeError;
}

function parseFrame(frame: string): SeenEvent {
  const match = /^id: (\S+)\ndata: (.*)$/.exec(frame);
  if (match === null) throw new Error(`no event: ${frame.slice(0, 200)}`);
  return { id: match[1] ?? '', data: JSON.parse(match[2] ?? '') };
}

/** Without the parts of steps that another process has begun again (docs/specification/agent.md#runs-that-continue). */
export function withoutVoid(events: readonly SeenEvent[]): readonly SeenEvent[] {
  const valid: SeenEvent[] = [];
  let step = 0;
  for (const event of events) {
    if (event.data.type === 'start-step') step = valid.length;
    if (event.data.type === 'data-restarted') valid.length = step;
    else valid.push(event);
  }
  return valid;
}

/** All deltas of its texts, in order, without void ones. */
export function textOf(events: readonly SeenEvent[]): string {
  return withoutVoid(events)
    .flatMap(({ data }) => (data.type === 'text-delta' ? [String(data.delta)] : []))
    .join('');
}
