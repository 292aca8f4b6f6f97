/**
 * A server of chat completions on OpenAI's wire, for the language model of memories. It refuses what the real one refuses,
 * and answers as a test scripts it.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface SentMemory {
  readonly id: string;
  readonly type: string;
  readonly stated_at: string;
  readonly content: string;
}

export interface SentPair {
  readonly newer_id: string;
  readonly older_id: string;
}

export interface ModelRequest {
  readonly purpose: 'judge' | 'extract';
  readonly form: 'schema' | 'tool';
  readonly authorization: string | undefined;
  readonly model: string;
  readonly system: string;
  /** Of the judge. */
  readonly memories: readonly SentMemory[];
  readonly pairs: readonly SentPair[];
  /** Of the extraction. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** The content of a memory of the judge. */
  contentOf(id: string): string;
}

export type Reply =
  | { readonly json: unknown }
  | { readonly text: string }
  | { readonly status: number; readonly body?: string }
  /** Half of an answer, then the connection ends. */
  | { readonly half: string }
  /** No byte. */
  | { readonly hang: true };

type Handler = (request: ModelRequest) => Reply | Promise<Reply>;

export interface ModelServer {
  readonly url: string;
  readonly requests: ModelRequest[];
  /** Replaces the handler. By default, nothing is extracted and every pair stays. */
  handle(handler: Handler): void;
  refuseSchemas(): void;
  close(): void;
}

export const usage = { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 };

export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const quiet: Handler = ({ purpose }) => ({ json: purpose === 'judge' ? { verdicts: [] } : { memories: [] } });
  let handler = quiet;
  let refusesSchemas = false;
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'));
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') return refuse(response, 404, 'no route');
    if (refusesSchemas && Reflect.has(Object(body), 'response_format'))
      return refuse(response, 400, 'This response_format type is unavailable now');
    let read: ModelRequest;
    try {
      read = readRequest(body, request.headers.authorization);
    } catch (error) {
      return refuse(response, 400, String(error));
    }
    requests.push(read);
    const reply = await handler(read);
    if ('hang' in reply) return;
    if ('status' in reply) return refuse(response, reply.status, reply.body ?? 'scripted');
    stream(response, read.form, reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    handle: (next) => {
      handler = next;
    },
    refuseSchemas: () => {
      refusesSchemas = true;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly enum?: readonly string[];
}

/** OpenAI refuses other keywords in strict schemas, and objects whose properties are not all required. */
function assertStrict(schema: Schema): void {
  const known = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'description'];
  const unknown = Object.keys(schema).filter((keyword) => !known.includes(keyword));
  if (unknown.length > 0) throw new Error(`the schema has ${unknown.join(', ')}`);
  if (schema.type === 'object') {
    const names = Object.keys(schema.properties ?? {});
    if (schema.additionalProperties !== false) throw new Error('additionalProperties must be false');
    if (names.some((name) => !schema.required?.includes(name))) throw new Error('all properties must be required');
  }
  for (const inner of Object.values(schema.properties ?? {})) assertStrict(inner);
  if (schema.items !== undefined) assertStrict(schema.items);
}

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name: string; readonly strict?: boolean; readonly schema: Schema };
  };
  readonly tools?: readonly { readonly type: string; readonly function: { name: string; parameters: Schema } }[];
  readonly tool_choice?: { readonly type: string; readonly function: { readonly name: string } };
}

function readRequest(parsed: unknown, authorization: string | undefined): ModelRequest {
  const body = parsed as Body;
  const format = body.response_format?.json_schema;
  const tool = body.tools?.[0]?.function;
  if (format === undefined && (tool === undefined || body.tool_choice?.function.name !== tool.name))
    throw new Error('the answer has no schema');
  if (format !== undefined && (body.response_format?.type !== 'json_schema' || format.strict !== true))
    throw new Error('response_format is not strict');
  const name = format?.name ?? tool?.name ?? '';
  if (!/^[\w-]{1,64}$/.test(name)) throw new Error('the name is invalid');
  if (format !== undefined) assertStrict(format.schema);
  const [system, user, ...more] = body.messages;
  if (system?.role !== 'system' || user?.role !== 'user' || more.length > 0) throw new Error('unexpected messages');
  const data = JSON.parse(textOf(user.content)) as Partial<Pick<ModelRequest, 'memories' | 'pairs' | 'messages'>>;
  const { memories = [], pairs = [], messages = [] } = data;
  return {
    purpose: name === 'judge_memories' ? 'judge' : 'extract',
    form: format === undefined ? 'tool' : 'schema',
    authorization,
    model: body.model,
    system: textOf(system.content),
    memories,
    pairs,
    messages,
    contentOf: (id) => memories.find((memory) => memory.id === id)?.content ?? '',
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text: string }[]).map(({ text }) => text).join('');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
}

function stream(
  response: ServerResponse,
  form: ModelRequest['form'],
  reply: Exclude<Reply, { hang: true } | { status: number }>,
) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = 'json' in reply ? JSON.stringify(reply.json) : 'half' in reply ? reply.half : reply.text;
  const call = { index: 0, id: 'call_0', type: 'function', function: { name: toolName(text), arguments: text } };
  const delta = form === 'tool' ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content: text };
  response.write(frame([{ index: 0, delta, finish_reason: null }]));
  if ('half' in reply) return response.destroy();
  response.write(frame([{ index: 0, delta: {}, finish_reason: form === 'tool' ? 'tool_calls' : 'stop' }]));
  response.write(frame([], usage));
  response.end('data: [DONE]\n\n');
}

const toolName = (text: string) => (text.includes('"verdicts"') ? 'judge_memories' : 'extract_memories');

const frame = (choices: readonly object[], used?: object) =>
  `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage: used })}\n\n`;

type VerdictWord = 'keep_both' | 'same' | 'replaces';

/** A handler of the judge: the verdict for each pair, by the contents of its newer and its older memory. */
export function judging(decide: (newer: string, older: string) => VerdictWord, reason = 'They state it so.'): Handler {
  return ({ purpose, pairs, contentOf }) => {
    if (purpose !== 'judge') return { json: { memories: [] } };
    const verdicts = pairs.map(({ newer_id, older_id }) => ({
      newer_id,
      older_id,
      verdict: decide(contentOf(newer_id), contentOf(older_id)),
      reason,
    }));
    return { json: { verdicts } };
  };
}
