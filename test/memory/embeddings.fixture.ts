/** An external embedding server for tests: it has the protocol of OpenAI, and the test sets its responses. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBuiltinEmbedder } from '#memory/embedding/builtin.ts';

/** `undefined` is the good answer. */
type Answer = (vectors: number[][]) => { readonly status: number; readonly body: string } | undefined;

export interface EmbeddingServer {
  readonly url: string;
  /** What was asked so far. */
  readonly requests: { readonly model: string; readonly input: readonly string[]; readonly dimensions?: number }[];
  answer: Answer;
  close(): Promise<void>;
}

export const dimensions = 192;

/** A meaning that no word shows: these are the same to it. */
const synonyms: readonly (readonly [RegExp, string])[] = [
  [/I follow a vegetarian diet|I live on vegetables/g, 'I am a vegetarian'],
];

export async function startEmbeddings(): Promise<EmbeddingServer> {
  const embedder = createBuiltinEmbedder();
  const requests: EmbeddingServer['requests'] = [];
  const state: { answer: Answer } = { answer: () => undefined };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    requests.push(body);
    const meant = body.input.map((text: string) =>
      synonyms.reduce((said, [wording, meaning]) => said.replace(wording, meaning), text),
    );
    const vectors = (await embedder.embed(meant)).map((vector) => [...vector]);
    const given = state.answer(vectors);
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse();
    response.writeHead(given?.status ?? 200, { 'content-type': 'application/json' });
    response.end(given?.body ?? JSON.stringify({ object: 'list', data, model: body.model }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get answer() {
      return state.answer;
    },
    set answer(answer) {
      state.answer = answer;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
