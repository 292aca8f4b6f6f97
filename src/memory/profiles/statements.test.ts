import { describe, expect, it } from 'vitest';
import {
  blindSentences,
  collectedSentences,
  everydaySentences,
  fifthSentences,
  residenceTraps,
  seventhSentences,
  sixthSentences,
  thirdSentences,
  writtenSentences,
} from '../../../test/memory/statements.fixture.ts';
import { readStatements } from './statements.ts';

const stated = (text: string) => readStatements(text).map(({ fact, value }) => `${fact}=${value}`);
const [statements, traps] = [true, false].map((isStatement) =>
  writtenSentences.filter(({ states }) => (states !== undefined) === isStatement),
);

describe('statements of a name, a language or a time zone, in 12 languages', () => {
  it('are read with exactly what they state', () => {
    expect(statements?.length).toBeGreaterThanOrEqual(75);
    const missed = statements?.filter(({ text, states }) => stated(text).join() !== states);
    expect(missed).toEqual([]);
  });

  it('are not read from what is negated, conditional, reported, or about somebody else', () => {
    expect(traps?.length).toBeGreaterThanOrEqual(100);
    const taken = traps?.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`));
    expect(taken).toEqual([]);
  });

  it('are not read from traps that were written without sight of the rules', () => {
    const blindTraps = blindSentences.filter(({ states }) => states === undefined);
    expect(blindTraps).toHaveLength(100);
    expect(blindTraps.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`))).toEqual([]);
  });

  it('are read from 97 of 100 sentences that the words were collected from, and nothing else is read', () => {
    const all = [...collectedSentences, ...blindSentences];
    const statedOnes = all.filter(({ states }) => states !== undefined);
    expect(statedOnes.length).toBeGreaterThan(1_000);
    const read = statedOnes.filter(({ states, text }) => stated(text).join() === states);
    const misread = statedOnes.filter(({ states, text }) => stated(text).join() !== states && stated(text).length > 0);
    expect(misread).toEqual([]);
    expect(read.length / statedOnes.length).toBeGreaterThanOrEqual(0.97);
  });

  it('are not read from any trap that the words were collected with', () => {
    const collectedTraps = collectedSentences.filter(({ states }) => states === undefined);
    expect(collectedTraps.length).toBeGreaterThan(1_000);
    expect(collectedTraps.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`))).toEqual([]);
  });

  it('are read from nine of ten sentences of a writer whose sentences the words were not collected from', () => {
    const statedOnes = thirdSentences.filter(({ states }) => states !== undefined);
    expect([statedOnes.length, thirdSentences.length]).toEqual([120, 240]);
    const read = statedOnes.filter(({ states, text }) => stated(text).join() === states);
    expect(read.length / statedOnes.length).toBeGreaterThanOrEqual(0.9);
    const others = thirdSentences.filter((one) => !read.includes(one));
    expect(others.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`))).toEqual([]);
  });

  it.each([
    ['everyday', everydaySentences, 300, 300, 0.9],
    ['fifth', fifthSentences, 60, 60, 0.9],
    ['sixth', sixthSentences, 89, 120, 0.9],
    ['seventh', seventhSentences, 99, 100, 0.85],
  ])('are read from most of the %s sentences, and from no trap', (_, sentences, statements, traps, least) => {
    const statedOnes = sentences.filter(({ states }) => states !== undefined);
    expect([statedOnes.length, sentences.length]).toEqual([statements, statements + traps]);
    const read = statedOnes.filter(({ states, text }) => stated(text).toSorted().join() === states);
    expect(read.length / statedOnes.length).toBeGreaterThanOrEqual(least);
    const others = sentences.filter((one) => !read.includes(one));
    expect(others.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`))).toEqual([]);
  });

  it.each([
    ['I live in Vienna, so use the time here', 'timezone=Europe/Vienna'],
    ['I live in Vienna for good', 'timezone=Europe/Vienna'],
    ['I live in Vienna', 'timezone=Europe/Vienna'],
    ['I live in Vienna this week, so use the time here', ''],
    ['I lived in Vienna, so use the time here', ''],
    ['I live in Vienna, but use New York time', 'timezone=America/New_York'],
    ["I live in Vienna, but don't use the local time", ''],
    ["I'm in Vienna, it is my first time", ''],
    ["I'm in Vienna, use local time", 'timezone=Europe/Vienna'],
    ['I moved from Vienna to Chicago, so use local time', 'timezone=America/Chicago'],
    ['I moved to Vienna but moved back, so mind the time', ''],
    ['Vivo en Bogotá, así que ponme las alarmas con la hora de acá', 'timezone=America/Bogota'],
  ])('read where a user lives unless times of another place are meant or the stay has ended: %s', (text, facts) => {
    expect(stated(text).join()).toBe(facts);
  });

  it('are not read from traps next to a residence, an Arabic statement or a question', () => {
    expect(residenceTraps).toHaveLength(82);
    expect(residenceTraps.flatMap(({ text }) => stated(text).map((fact) => `${text}: ${fact}`))).toEqual([]);
  });

  it.each([
    ['اسمي هدى وأعمل ممرضة.', 'display_name=هدى'],
    ['نادني أبو سامر.', 'display_name=أبو سامر'],
    ['أريدك أن ترد عليّ دائماً بالفرنسية.', 'language=fr'],
    ['منطقتي الزمنية هي توقيت الرياض', 'timezone=Asia/Riyadh'],
    ['أسكن في عمّان.', 'timezone=Asia/Amman'],
    ['저는 대구에 살아요.', 'timezone=Asia/Seoul'],
    ['내 타임존은 호치민이야', 'timezone=Asia/Ho_Chi_Minh'],
    ['ベルリンで暮らしているイラストレーターです。', 'timezone=Europe/Berlin'],
    ['我们一家现在定居在温哥华。', 'timezone=America/Vancouver'],
    ['I live in Leeds, near the bus depot where I used to work.', 'timezone=Europe/London'],
    ['Ich wohne in Graz, gleich neben der Uni.', 'timezone=Europe/Vienna'],
    ['Schreib mir bitte ab jetzt auf Deutsch zurück.', 'language=de'],
  ])('are read from a residence, and in Arabic: %s', (text, facts) => {
    expect(stated(text).join()).toBe(facts);
  });

  it.each(['Anna heiße ich nicht.', 'Max ist mein Name nicht', 'Anna heet ik niet', 'Benim adım Hakan değil.'])(
    'are not read from a name that is denied after it: %s',
    (text) => {
      expect(stated(text)).toEqual([]);
    },
  );
});
