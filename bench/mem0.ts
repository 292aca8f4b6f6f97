/**
 * The memory service beside the library mem0: hit rates and latencies on the half of the questions that nothing is tuned on.
 * Both get their vectors from one embedding server over HTTP, and store facts unchanged. MEM0_PYTHON is the Python of an
 * environment with the package mem0ai.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { type Class, classes, halves, type MeaningPerson } from '../test/memory/meaning.fixture.ts';
import { atLeast, atMost, type Bench, median, type Outcome, type Row } from './bench.ts';
import { openFullModel } from './fullmodel.ts';
import { startMemoryService } from './memoryservice.ts';

const run = promisify(execFile);
const people = halves.reported;
const questions = people.flatMap((person) => person.questions);

interface Measured {
  /** The contents that were found for each question. */
  readonly found: readonly (readonly string[])[];
  /** In milliseconds. */
  readonly times: Readonly<Record<'add' | 'search', readonly number[]>>;
}

export const mem0: Bench = {
  run: async () => {
    const python = process.env.MEM0_PYTHON;
    if (python === undefined) return skip('mem0 is missing');
    const version = await run(python, ['-c', 'from importlib.metadata import version; print(version("mem0ai"))']).catch(
      () => undefined,
    );
    if (version === undefined) return skip(`${python} does not have mem0ai`);
    const model = openFullModel();
    const embedder = model ?? createBuiltinEmbedder();
    const server = await serve(embedder);
    try {
      console.error(`  mem0 ${version.stdout.trim()}, vectors of ${embedder.name}`);
      const peer = await measurePeer(python, server.url, embedder, people);
      const ours = await measureOurs(throughServer(embedder, server.url));
      return compare(ours, peer);
    } finally {
      await server.close();
      await embedder.close();
    }
  },
};

const skip = (reason: string): Outcome[] => [
  {
    goal: 'all rows',
    skipped: `${reason}: install mem0ai in Python, and set MEM0_PYTHON to that Python (docs/memory.md)`,
  },
];

/** An OpenAI-compatible server of the embedder. The model `query` is for queries. */
export async function serve(embedder: Embedder) {
  const server = createServer(async (request, response) => {
    const { model, input } = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'));
    const texts: readonly string[] = [input].flat();
    const vectors = model === 'query' ? await Promise.all(texts.map(embedder.embedQuery)) : await embedder.embed(texts);
    const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: [...vector] }));
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data, model, usage }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}

function throughServer(embedder: Embedder, url: string): Embedder {
  const request = async (model: string, input: readonly string[]) => {
    const body = JSON.stringify({ model, input });
    const response = await fetch(`${url}/embeddings`, { method: 'POST', body });
    const { data } = (await response.json()) as { data: { embedding: number[] }[] };
    return data.map(({ embedding }) => Float32Array.from(embedding));
  };
  return {
    ...embedder,
    embed: (texts) => request('passage', texts),
    embedQuery: async (text) => (await request('query', [text]))[0] ?? new Float32Array(),
    close: async () => undefined,
  };
}

/** What mem0 finds for the questions of people, in order. */
export async function measurePeer(
  python: string,
  url: string,
  embedder: Embedder,
  people: readonly Pick<MeaningPerson, 'name' | 'facts' | 'questions'>[],
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-mem0-'));
  try {
    const source = join(folder, 'people.json');
    await writeFile(source, JSON.stringify(people));
    const [vector = new Float32Array()] = await embedder.embed(['a']);
    const script = fileURLToPath(new URL('peers/mem0_recall.py', import.meta.url));
    const { stdout } = await run(python, [script, source, url, String(vector.length), join(folder, 'store')], {
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, MEM0_DIR: folder },
    });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureOurs(embedder: Embedder): Promise<Measured> {
  const service = await startMemoryService(embedder);
  const times: Record<'add' | 'search', number[]> = { add: [], search: [] };
  const timed = async (kind: 'add' | 'search', path: string, payload: object) => {
    const since = performance.now();
    const answer = await service.post(path, payload);
    times[kind].push(performance.now() - since);
    return answer;
  };
  try {
    const found: string[][] = [];
    for (const person of people) {
      const entity = { entity_id: randomUUID(), entity_type: 'user' };
      for (const content of person.facts) await timed('add', '/memory/add', { ...entity, content, type: 'preference' });
      for (const { question: query } of person.questions) {
        const { memories } = await timed('search', '/memory/search', { ...entity, query, limit: 5 });
        found.push(memories.map(({ content }) => content));
      }
    }
    return { found, times };
  } finally {
    await service.close();
  }
}

function compare(ours: Measured, peer: Measured): Row[] {
  const kinds = Object.keys(classes) as Class[];
  console.table(
    kinds.map((kind) => ({
      class: classes[kind],
      questions: questions.filter((question) => question.kind === kind).length,
      ours: `${hitRate(ours, kind, 1).toFixed(3)} / ${hitRate(ours, kind, 5).toFixed(3)}`,
      mem0: `${hitRate(peer, kind, 1).toFixed(3)} / ${hitRate(peer, kind, 5).toFixed(3)}`,
    })),
  );
  const row = (kind: 'add' | 'search') => {
    const text = ({ times }: Measured) => `${median(times[kind]).toFixed(1)} / ${p95(times[kind]).toFixed(1)}`;
    return { 'ms, median / p95': kind, ours: text(ours), mem0: text(peer) };
  };
  console.table([row('add'), row('search')]);
  const against = 'mem0 with the same embedder';
  const share = (kind: Class) => hitRate(ours, kind, 5) / hitRate(peer, kind, 5);
  const time = (kind: 'add' | 'search') => median(ours.times[kind]) / median(peer.times[kind]);
  return [
    ...(['s', 'p', 'x'] as const).map((kind) =>
      atLeast(1, { goal: `${classes[kind]}, hit rate at 5`, measured: share(kind), against }),
    ),
    atMost(1, { goal: 'time of an addition', measured: time('add'), against }),
    atMost(1, { goal: 'time of a search', measured: time('search'), against }),
  ];
}

function hitRate({ found }: Measured, kind: Class, first: number): number {
  const ofKind = questions.flatMap(({ kind: other, answer }, place) => (other === kind ? [{ answer, place }] : []));
  return ofKind.filter(({ answer, place }) => found[place]?.slice(0, first).includes(answer)).length / ofKind.length;
}

const p95 = (times: readonly number[]) =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.95)] ?? Number.NaN;
