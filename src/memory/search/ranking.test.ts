import { expect, it } from 'vitest';
import { calibrated, rankContents } from '../../../test/memory/ranked.fixture.ts';
import { createBuiltinEmbedder } from '../embedding/builtin.ts';

const turns: readonly (readonly [day: string, content: string])[] = [
  ['2025-03-03', 'Ann: I finished a painting of the harbor at last'],
  ['2025-03-03', 'Ben: I finished a painting of the harbor too'],
  ['2025-05-04', 'Ann: I finished a painting of the bridge'],
  ['2025-05-04', 'Ben: I finished a painting of the bridge too'],
  ['2026-05-05', 'Ann: I finished a painting of the tower'],
  ['2026-05-05', 'Ben: I finished a painting of the tower too'],
];

it.each([
  ['Which painting did Ann finish in March?', 0],
  ['Which painting did Ben finish in March?', 1],
  ['Which painting did Ann finish in May 2025?', 2],
  ['Which painting did Ben finish in May 2026?', 5],
  ['Welches Bild hat Ann im Mai 2026 gemalt?', 4],
  ['Ben 2025年5月的画', 3],
])('finds what the person named said in the month named: %s', async (question, place) => {
  const embedder = await calibrated(createBuiltinEmbedder());
  const search = await rankContents(
    embedder,
    turns.map(([, content]) => content),
    (turn) => ({ type: 'episodic', atMs: Date.parse(turns[turn]?.[0] ?? '') }),
  );
  expect((await search(question, 1))[0]).toBe(turns[place]?.[1]);
});
