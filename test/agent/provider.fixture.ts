/**
 * A provider of texts, images and videos that speaks OpenAI's wire, and does what a test scripts it to: by words of the
 * prompt, so that many runs can share it.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Text goes as it is: it need not be JSON. */
  readonly args: object | string;
}

/** One answer of the model, or whatever it does in place of one. */
export type ScriptedAnswer =
  | { readonly text: string }
  | { readonly calls: readonly ToolCall[] }
  /** Half an answer, then the connection ends without another word. */
  | { readonly half: string }
  | { readonly answer: Answer }
  /** Not a byte. */
  | { readonly hang: true }
  /** Not a byte until then. */
  | { readonly after: Promise<void>; readonly reply: ScriptedAnswer };

export interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<string>;
  /** The head comes, and what there is of the body, and then nothing more. */
  readonly stall?: true;
}

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** JSON parsed; forms as they came. */
  readonly body: unknown;
}

type Script = ScriptedAnswer | ((requests: ReceivedRequest) => ScriptedAnswer);

export interface Provider {
  readonly url: string;
  /** Requests whose caller hung up before the response. */
  readonly abandoned: readonly ReceivedRequest[];
  /** Without requests for titles. */
  readonly requests: readonly ReceivedRequest[];
  /** Requests for titles, which the agent makes after the first answer of a thread. */
  readonly titles: readonly ReceivedRequest[];
  /** What a request whose prompt holds `word` gets: one after the other, and the last one again and again. */
  on(word: string, ...scripts: readonly Script[]): void;
  /** As `on`, for requests for titles; those that are not scripted get an empty text. */
  onTitle(word: string, ...scripts: readonly Script[]): void;
  close(): void;
}

export async function startProvider(): Promise<Provider> {
  const requests: ReceivedRequest[] = [];
  const titles: ReceivedRequest[] = [];
  const abandoned: ReceivedRequest[] = [];
  const titleScripts = new Map<string, Script[]>();
  const scripts = new Map<string, Script[]>();
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { authorization, 'user-agent': userAgent } = request.headers;
    const { headers } = request;
    const one = { method: request.method, path: request.url ?? '', authorization, userAgent, headers, body };
    response.once('close', () => void (response.writableFinished || abandoned.push(one)));
    const isTitle = isTitleRequest(one);
    (isTitle ? titles : requests).push(one);
    const scripted = isTitle ? (nextOf(titleScripts, one) ?? { text: '' }) : nextFor(one);
    await answer(response, scripted, one.path).catch(() => response.destroy());
  });

  const nextFor = (one: ReceivedRequest): ScriptedAnswer =>
    nextOf(scripts, one) ?? { text: `nothing is scripted for ${promptOf(one).slice(0, 80)}` };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: requests,
    abandoned,
    titles,
    onTitle: (word, ...more) => void titleScripts.set(word, [...more]),
    on: (word, ...more) => void scripts.set(word, [...more]),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function nextOf(scripts: ReadonlyMap<string, Script[]>, one: ReceivedRequest): ScriptedAnswer | undefined {
  const prompt = promptOf(one);
  const word = [...scripts.keys()].find((key) => prompt.includes(key));
  const list = word === undefined ? undefined : scripts.get(word);
  const script = list !== undefined && list.length > 1 ? list.shift() : list?.[0];
  return typeof script === 'function' ? script(one) : script;
}

function isTitleRequest({ body }: ReceivedRequest): boolean {
  const messages = (body as { messages?: { role: string; content: unknown }[] } | null)?.messages ?? [];
  return messages.some(({ role, content }) => role === 'system' && String(content).startsWith('Write a title'));
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString('latin1');
  if (request.headers['content-type'] !== 'application/json') return text;
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
}

/** The newest message of the user, or the prompt of an image or a video; of a GET, its address. */
function promptOf({ path, body }: ReceivedRequest): string {
  if (typeof body !== 'object' || body === null) return `${path} ${String(body)}`;
  const { messages, prompt } = body as { messages?: { role: string; content: unknown }[]; prompt?: string };
  const question = messages?.findLast((message) => message.role === 'user' && !isShown(message));
  return prompt ?? JSON.stringify(question?.content ?? '');
}

/** Not of the user: a message that shows the model what its tools have made. */
function isShown({ content }: { content: unknown }): boolean {
  const texts = Array.isArray(content) ? content.filter((part: { type: string }) => part.type === 'text') : [];
  return texts.length > 0 && texts.every(({ text }: { text: string }) => text.startsWith('[generated by your tool'));
}

async function answer(response: ServerResponse, scripted: ScriptedAnswer, path: string): Promise<void> {
  if ('hang' in scripted) return;
  if ('after' in scripted) {
    await scripted.after;
    return answer(response, scripted.reply, path);
  }
  if ('answer' in scripted) {
    const { status = 200, type = 'application/json', headers = {}, body = '', stall } = scripted.answer;
    response.writeHead(status, { 'content-type': type, ...headers });
    if (typeof body === 'object' && Symbol.asyncIterator in body) {
      for await (const piece of body) response.write(piece);
      return void response.end();
    }
    if (stall) return void response.write(body);
    return void response.end(body);
  }
  if (!path.replace(/[?].*/, '').endsWith('/chat/completions')) throw new Error(`nothing is scripted for ${path}`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const isWhole = !('half' in scripted);
  for (const delta of deltasOf(scripted)) response.write(frame({ delta, finish_reason: null }));
  if (isWhole) {
    response.write(frame({ delta: {}, finish_reason: 'calls' in scripted ? 'tool_calls' : 'stop' }));
    response.write('data: [DONE]\n\n');
  }
  response.end();
}

function deltasOf(
  scripted: Exclude<ScriptedAnswer, { answer: Answer } | { hang: true } | { after: Promise<void> }>,
): object[] {
  if ('half' in scripted) return [{ role: 'assistant', content: scripted.half }];
  if ('text' in scripted) return [{ role: 'assistant', content: scripted.text }];
  return scripted.calls.map(({ id, name, args }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] };
  });
}

const frame = (choice: object) =>
  `data: ${JSON.stringify({
    id: 'chat-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'a-model',
    choices: [{ index: 0, ...choice }],
  })}\n\n`;
