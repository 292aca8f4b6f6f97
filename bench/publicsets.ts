/**
 * Recall on public sets, which are not part of this repository (docs/memory-benchmark.md): LOCOMO names `locomo10.json` or
 * a folder with one file for each conversation, LONGMEMEVAL the file of LongMemEval-S. Beside BM25 with stems and, with
 * MEM0_PYTHON, the library mem0 with the same vectors.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { calibrated, rankContents } from '../test/memory/ranked.fixture.ts';
import { bm25, type Search } from '../test/memory/recall.fixture.ts';
import { atLeast, type Bench, type Outcome } from './bench.ts';
import { openFullModel } from './fullmodel.ts';
import { measurePeer, serve } from './mem0.ts';

interface Turn {
  readonly id: string;
  readonly content: string;
  readonly atMs: number;
}

interface Question {
  readonly question: string;
  /** The ids of the turns that contain the answer. */
  readonly evidence: readonly string[];
}

interface Conversation {
  readonly name: string;
  readonly turns: readonly Turn[];
  readonly questions: readonly Question[];
}

const limit = 5;
const minuteMs = 60_000;

export const publicSets: Bench = {
  async *run() {
    const { LOCOMO: locomo, LONGMEMEVAL: longMemEval } = process.env;
    if (locomo === undefined) yield missing('LoCoMo', 'LOCOMO');
    else yield* await rowsOf('LoCoMo', readLocomo(locomo));
    if (longMemEval === undefined) yield missing('LongMemEval-S', 'LONGMEMEVAL');
    else yield* await rowsOf('LongMemEval-S', readLongMemEval(longMemEval));
  },
};

const missing = (name: string, variable: string): Outcome => ({
  goal: `${name}, recall@${limit}`,
  skipped: `download the set, and set ${variable} to its file (docs/memory-benchmark.md)`,
});

async function rowsOf(name: string, conversations: readonly Conversation[]): Promise<Outcome[]> {
  const words = await recallOf(conversations, ({ turns }) => bm25({ memories: turns.map(({ content }) => content) }));
  const model = openFullModel();
  const rows: Outcome[] = [];
  const measured = [[1.1, createBuiltinEmbedder()] as const, ...(model === undefined ? [] : [[1.25, model] as const])];
  for (const [bound, embedder] of measured) {
    const ready = await calibrated(embedder);
    const ours = await recallOf(conversations, ({ turns }) =>
      rankContents(
        ready,
        turns.map(({ content }) => content),
        (place) => ({ type: 'episodic', atMs: turns[place]?.atMs ?? 0 }),
      ),
    );
    const peer = await recallOfMem0(conversations, embedder);
    console.error(
      `  ${name}, ${embedder.name}, recall@${limit}: ${ours.toFixed(3)}, BM25 ${words.toFixed(3)}, mem0 ${peer?.toFixed(3) ?? '–'}`,
    );
    const goal = `${name}, ${embedder.name}, recall@${limit}`;
    rows.push(atLeast(bound, { goal, measured: ours / words, against: 'BM25 with stems' }));
    if (peer !== undefined)
      rows.push(atLeast(1, { goal, measured: ours / peer, against: 'mem0 with the same embedder' }));
    await embedder.close();
  }
  return rows;
}

/** The mean share of the turns with the answer that are among the first five. */
async function recallOf(
  conversations: readonly Conversation[],
  searchIn: (conversation: Conversation) => Promise<Search>,
): Promise<number> {
  const shares: number[] = [];
  for (const conversation of conversations) {
    const search = await searchIn(conversation);
    for (const question of conversation.questions)
      shares.push(shareFound(conversation, question, await search(question.question, limit)));
  }
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function shareFound({ turns }: Conversation, { evidence }: Question, found: readonly string[]): number {
  const contents = new Map(turns.map(({ id, content }) => [id, content]));
  return evidence.filter((id) => found.includes(contents.get(id) ?? '')).length / evidence.length;
}

async function recallOfMem0(conversations: readonly Conversation[], embedder: Embedder): Promise<number | undefined> {
  const python = process.env.MEM0_PYTHON;
  if (python === undefined) return undefined;
  const server = await serve(embedder);
  try {
    const people = conversations.map(({ name, turns, questions }) => ({
      name,
      facts: turns.map(({ content }) => content),
      questions: questions.map(({ question }) => ({ kind: 's' as const, question, answer: '' })),
    }));
    const { found } = await measurePeer(python, server.url, embedder, people);
    const asked = conversations.flatMap((one) => one.questions.map((question) => ({ one, question })));
    const shares = asked.map(({ one, question }, place) => shareFound(one, question, found[place] ?? []));
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  } finally {
    await server.close();
  }
}

type Json = Record<string, unknown>;

/** Turns as `speaker: text`. Questions without an answer in the conversation (category 5) are left out. */
function readLocomo(path: string): readonly Conversation[] {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder ? readdirSync(path).filter((file) => file.endsWith('.json')) : [path];
  const samples = files
    .toSorted()
    .flatMap((file): Json[] => [JSON.parse(readFileSync(isFolder ? join(path, file) : file, 'utf8'))].flat());
  return samples.map((sample, place) => {
    const sessions = (sample.conversation ?? sample) as Record<string, string | undefined> &
      Record<string, { speaker: string; dia_id: string; text: string }[] | undefined>;
    const turns: Turn[] = [];
    for (let number = 1; Array.isArray(sessions[`session_${number}`]); number += 1) {
      const startMs = timeOf(String(sessions[`session_${number}_date_time`]));
      for (const [turn, { speaker, dia_id: id, text }] of (sessions[`session_${number}`] ?? []).entries())
        turns.push({ id, content: `${speaker}: ${text}`, atMs: startMs + turn * minuteMs });
    }
    const ids = new Set(turns.map(({ id }) => id));
    const questions = (sample.qa as { question: string; category: number; evidence?: string[] }[]).flatMap(
      ({ question, category, evidence = [] }): Question[] => {
        const named = evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []).filter((id) => ids.has(id));
        return category === 5 || named.length === 0 ? [] : [{ question, evidence: [...new Set(named)] }];
      },
    );
    return { name: String(sample.sample_id ?? place), turns, questions };
  });
}

/** Reads "1:56 pm on 8 May, 2023". */
function timeOf(text: string): number {
  const [, hours, minutes, half, day] = /(\d+):(\d\d) (am|pm) on (.+)/.exec(text) ?? [];
  const hour = (Number(hours) % 12) + (half === 'pm' ? 12 : 0);
  return Date.parse(`${day?.replace(',', '')} ${hour}:${minutes} UTC`);
}

/** The turns of the user in the sessions of one question. Those with `has_answer` contain the answer. */
function readLongMemEval(path: string): readonly Conversation[] {
  const samples = JSON.parse(readFileSync(path, 'utf8')) as {
    question_id: string;
    question: string;
    haystack_dates: string[];
    haystack_sessions: { role: string; content: string; has_answer?: boolean }[][];
  }[];
  return samples.flatMap(({ question_id: name, question, haystack_dates: dates, haystack_sessions: sessions }) => {
    const turns = sessions.flatMap((session, number) => {
      const startMs = Date.parse(`${(dates[number] ?? '').replace(/ \(\w+\)/, '')} UTC`);
      return session.map((turn, place) => ({
        ...turn,
        id: `${number}:${place}`,
        atMs: startMs + place * minuteMs,
      }));
    });
    const ofUser = turns.filter(({ role }) => role === 'user');
    const evidence = ofUser.filter((turn) => turn.has_answer === true).map(({ id }) => id);
    return evidence.length === 0 ? [] : [{ name, turns: ofUser, questions: [{ question, evidence }] }];
  });
}
