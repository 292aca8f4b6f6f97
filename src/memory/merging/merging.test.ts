import { beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../../../test/lane.fixture.ts';
import {
  blindPairs,
  classPairs,
  type MergingPair,
  mergingHalves,
  mergingPairs,
  type Relation,
  relations,
  rewordedPairs,
} from '../../../test/memory/merging.fixture.ts';
import { calibrated } from '../../../test/memory/ranked.fixture.ts';
import { createBuiltinEmbedder } from '../embedding/builtin.ts';
import { type CalibratedEmbedder, cosine } from '../embedding/embedder.ts';
import { comparePair, contradicts } from './finding.ts';
import { draft, lexiconTogether, readTogether } from './reading.ts';

/** MEMORY_MERGE_SIMILARITY. */
const mergeAbove = 0.9;

describe('the set of pairs', () => {
  it('is large enough, in 20 languages', () => {
    expect(mergingPairs.length).toBeGreaterThanOrEqual(600);
    expect(new Set(mergingPairs.map(({ language }) => language)).size).toBe(20);
  });

  it('contains no pair twice', () => {
    const texts = mergingPairs.map(({ first, second }) => `${first} | ${second}`);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('merging with the built-in embedder, on the half that nothing is tuned on', () => {
  let embedder: CalibratedEmbedder;
  beforeAll(async () => {
    embedder = await calibrated(createBuiltinEmbedder());
  });

  async function compared({ first, second }: MergingPair, isMeasured = true) {
    const [left = new Float32Array(), right = new Float32Array()] = await embedder.embed([first, second]);
    const similarity = isMeasured ? embedder.similarityOf(cosine(left, right)) : 1;
    return comparePair(draft(first), draft(second), { similarity, mergeAbove });
  }

  async function shareOf(relation: Relation, holds: (result: Awaited<ReturnType<typeof compared>>) => boolean) {
    const pairs = mergingHalves.reported.filter((pair) => pair.relation === relation);
    const results = await Promise.all(pairs.map((pair) => compared(pair)));
    const share = results.filter(holds).length / pairs.length;
    console.info(`${relations[relation]}: ${share.toFixed(3)} of ${pairs.length}`);
    return share;
  }

  it('merges most pairs of the same fact', async () => {
    expect(await shareOf('=', ({ isTwin }) => isTwin)).toBeGreaterThanOrEqual(0.85);
  });

  it('links most contradictions', async () => {
    expect(await shareOf('!', ({ link }) => link === 'conflict')).toBeGreaterThanOrEqual(0.85);
  });

  it('merges no other pair, in either order', async () => {
    const others = bothOrders(mergingPairs.filter(({ relation }) => relation !== '='));
    expect(await mergedOf(others, true)).toEqual([]);
  });

  it('merges no other pair, however similar an embedding model finds it', async () => {
    const others = bothOrders(mergingPairs.filter(({ relation }) => relation !== '='));
    expect(await mergedOf(others, false)).toEqual([]);
  });

  it.each(everyNth([false, true], 2))(
    'merges no other pair that was written without sight of the rules (measured: %s)',
    async (isMeasured) => {
      const others = blindPairs.filter(({ relation }) => relation !== '=');
      expect(others).toHaveLength(100);
      expect(await mergedOf(bothOrders(others), isMeasured)).toEqual([]);
    },
  );

  describe('the same fact in other words or another order', () => {
    const same = rewordedPairs.filter(({ relation }) => relation === '=');

    it.each(everyNth([false, true], 2))('is not seen in another fact (measured: %s)', async (isMeasured) => {
      const others = rewordedPairs.filter(({ relation }) => relation !== '=');
      expect(others).toHaveLength(250);
      expect(await mergedOf(bothOrders(others), isMeasured)).toEqual([]);
    });

    it('is one memory, in either order', async () => {
      const merged = await mergedOf(bothOrders(same), true);
      console.info(`${merged.length / 2} of ${same.length}`);
      expect(merged.length / 2 / same.length).toBeGreaterThanOrEqual(0.95);
    });

    it('is no conflict', async () => {
      const results = await Promise.all(same.map((pair) => compared(pair)));
      expect(results.filter(({ link }) => link === 'conflict').length / same.length).toBeLessThanOrEqual(0.02);
    });

    it('contradicts none in what the guard reads, whether or not it is found to be the same', () => {
      const contradicting = bothOrders(same).filter(({ first, second }) => {
        const [left, right] = [draft(first), draft(second)];
        return contradicts(...readTogether(left, right), lexiconTogether(left, right));
      });
      expect(contradicting.length / 2 / same.length).toBeLessThanOrEqual(0.02);
    });

    it.each([
      ['The user works as a night nurse at a hospital', 'At a hospital, the user is employed as a night nurse'],
      ["I'm left-handed", 'My dominant hand is the left one'],
      ["I can't have lactose", "I'm lactose intolerant"],
      ['Anna is my boss', 'My boss is Anna'],
      ['My brother Ian is older than Tom', 'Tom is younger than my brother Ian'],
      ['Ich trinke abends Tee', 'Abends trinke ich Tee'],
      ['Seit Mai wohnt meine Schwester in Kassel', 'Meine Schwester wohnt seit Mai in Kassel'],
      ['I walk 2 km to work', 'I walk 2000 m to work'],
      ['海鲜我不吃', '我不吃海鲜'],
    ])('is no conflict if nothing has another value: %s | %s', (first, second) => {
      const options = { similarity: 1, mergeAbove };
      expect(comparePair(draft(first), draft(second), options).link).not.toBe('conflict');
    });

    it.each([
      ['Dan left me for Carla', 'Carla left me for Dan'],
      ['I taught my father to use a computer', 'My father taught me to use a computer'],
      ['I take the train from work to the gym', 'I take the train from the gym to work'],
      ['I owe Greta 200 pounds', 'Greta owes me 200 pounds'],
      ['犬が猫を追う', '猫が犬を追う'],
    ])('is not the same with exchanged roles: %s | %s', (first, second) => {
      const options = { similarity: 1, mergeAbove };
      expect(comparePair(draft(first), draft(second), options)).toMatchObject({ isTwin: false, link: 'conflict' });
    });

    it.each([
      [
        "At a children's hospital, the user is employed as a nurse",
        "The user works as a nurse at a children's hospital",
      ],
      ['The user runs a flower shop with their cousin', 'The user and their cousin run a flower shop together'],
      ['A green Skoda belongs to the user', 'The user owns a green Skoda'],
      ['I go swimming every Tuesday morning', 'Every Tuesday in the morning I swim'],
      ['The user has a daughter called Maren who is seven', "The user's seven-year-old daughter is named Maren"],
      ['À Nantes, mon frère vend des fleurs', 'Mon frère vend des fleurs à Nantes'],
      ['Tengo tres hermanos menores', 'Mis hermanos menores son tres'],
      ['Ik heb twee katten, Pip en Mok', 'Mijn twee katten heten Mok en Pip'],
      ['On Monday I work, on Tuesday I rest', 'On Tuesday I rest, on Monday I work'],
      ['I hate cats, like dogs', 'I like dogs, hate cats'],
      ['I drink tea, not coffee', 'Not coffee, I drink tea'],
      ['My sister drinks tea and coffee', 'My sister drinks coffee and tea'],
      ['화요일이랑 목요일에는 학교 도서관에서 과제를 해요', '학교 도서관에서 화요일이랑 목요일에는 과제를 해요'],
      ['In Rome I work in an office', 'I work in an office in Rome'],
      ['Ich vertrage keine Laktose', 'Ich bin laktoseintolerant'],
      ['我丈夫是中学物理老师', '我老公在中学教物理'],
    ])('is one memory: %s | %s', (first, second) => {
      const options = { similarity: 0.7, mergeAbove };
      expect(comparePair(draft(first), draft(second), options).isTwin).toBe(true);
      expect(comparePair(draft(second), draft(first), options).isTwin).toBe(true);
    });

    it.each([
      ['The user gave their sister a car', "The user's sister gave the user a car"],
      ['The user is a doctor', 'The user has a doctor'],
      ['The user likes their boss', "The user's boss likes the user"],
      ['The user will move to Rome in May', 'The user moved to Rome in May'],
      ['I am thinking of moving in May', 'I will move in May'],
      ['The user runs a shop with their cousin', "The user's cousin runs a shop"],
      ["The user's seven-year-old daughter is called Maren", "The user's daughter Maren has a seven-year-old"],
      ['In Rome, my sister met my boss', 'In Rome, my boss met my sister'],
      ['For my brother, I bake bread', 'With my brother, I bake bread'],
      ["The user's mother sold their house", "The user sold their mother's house"],
      ['The cello is the instrument I play', 'The cello is the instrument I am learning'],
      ['Ich bin laktoseintolerant', 'Ich vertrage Laktose'],
      ['吃花生会让我过敏', '吃花生不会让我过敏'],
    ])('is two memories, however similar: %s | %s', (first, second) => {
      const options = { similarity: 1, mergeAbove };
      expect(comparePair(draft(first), draft(second), options).isTwin).toBe(false);
      expect(comparePair(draft(second), draft(first), options).isTwin).toBe(false);
    });

    it('is left to a judge if the words differ', () => {
      const options = { similarity: 0.95, mergeAbove, isJudged: true };
      const isTwin = (first: string, second: string) => comparePair(draft(first), draft(second), options).isTwin;
      expect(isTwin('My favorite color is teal', 'Teal is the color I like best')).toBe(false);
      expect(isTwin('At noon I drink tea', 'I drink tea at noon')).toBe(true);
    });
  });

  describe('an everyday variant', () => {
    const same = classPairs.filter(({ relation }) => relation === '=');
    const others = classPairs.filter(({ relation }) => relation !== '=');

    it('is one memory in each of the 12 languages, in either order', async () => {
      const languages = [...new Set(same.map(({ language }) => language))];
      expect(languages).toHaveLength(12);
      for (const language of languages) {
        const pairs = same.filter((pair) => pair.language === language);
        const merged = await mergedOf(bothOrders(pairs), true);
        expect(merged.length / 2 / pairs.length).toBeGreaterThanOrEqual(0.95);
      }
    });

    it('is no conflict', async () => {
      const results = await Promise.all(same.map((pair) => compared(pair)));
      expect(results.filter(({ link }) => link === 'conflict')).toEqual([]);
    });

    it.each(everyNth([false, true], 2))('is not seen in a near miss (measured: %s)', async (isMeasured) => {
      expect(others.length).toBeGreaterThanOrEqual(300);
      expect(await mergedOf(bothOrders(others), isMeasured)).toEqual([]);
    });
  });

  it.each([
    ['I drink tea, not coffee.', 'I drink coffee, not tea.'],
    ['Ich trinke Tee statt Kaffee.', 'Ich trinke Kaffee statt Tee.'],
    ['Ich trinke Tee mit Milch statt Kaffee.', 'Ich trinke Kaffee statt Tee mit Milch.'],
    ['Je bois du thé, pas du café.', 'Je bois du café, pas du thé.'],
    ['Bevo tè, non caffè.', 'Bevo caffè, non tè.'],
    ['Bebo chá, não café.', 'Bebo café, não chá.'],
    ['No bebo café, bebo té.', 'No bebo té, bebo café.'],
    ['犬が好きで猫が嫌いです。', '猫が好きで犬が嫌いです。'],
    ['I like green tea and coffee.', 'I like green coffee and tea.'],
    ['Ich trinke schwarzen Tee und Kaffee.', 'Ich trinke schwarzen Kaffee und Tee.'],
    ['I have two cats and dogs.', 'I have two dogs and cats.'],
    ['I work on Monday and Tuesday I rest.', 'I work on Tuesday and Monday I rest.'],
    ['I was born in May and she in June.', 'I was born in June and she in May.'],
    ['Tengo una hermana y soy enfermera.', 'Tengo una hermana y es enfermera.'],
    ['I live in York and work in Leeds.', 'I live in Leeds and work in York.'],
    ['I like my green tea and coffee', 'I like my green coffee and tea'],
    ['I rest on Monday, work on Tuesday', 'I rest on Tuesday, work on Monday'],
    ['I drink coffee in the morning, tea in the evening', 'I drink coffee in the evening, tea in the morning'],
    ['I drink coffee in the morning, tea in the evening', 'In the morning I drink tea, coffee in the evening'],
    ['Ich trinke morgens Kaffee, abends Tee', 'Ich trinke abends Kaffee, morgens Tee'],
    ['月曜日は働いて火曜日は休みます', '火曜日は働いて月曜日は休みます'],
    ['毎朝コーヒー、毎晩紅茶を飲みます', '毎晩コーヒー、毎朝紅茶を飲みます'],
    ['아침에는 커피, 저녁에는 차를 마셔요', '저녁에는 커피, 아침에는 차를 마셔요'],
    ['I hate cats, like dogs', 'I hate dogs, like cats'],
    ['Me gusta el té, odio el café', 'Me gusta el café, odio el té'],
    ['Ich mag Tee, hasse Kaffee', 'Ich mag Kaffee, hasse Tee'],
    ['Люблю чай, ненавижу кофе', 'Люблю кофе, ненавижу чай'],
    ['I have a red car, blue bike', 'I have a blue car, red bike'],
    ['I work in the office on Mondays, from home on Fridays', 'I work from home on Mondays, in the office on Fridays'],
    ["On Monday I'm in Rome, on Tuesday in Leeds", "On Tuesday I'm in Rome, on Monday in Leeds"],
    ['Im Sommer wohne ich in Bonn, im Winter in Rom', 'Im Winter wohne ich in Bonn, im Sommer in Rom'],
    ['I go to school by bus, to work by bike', 'I go to school by bike, to work by bus'],
    ['I quite like drawing hands', 'I absolutely love drawing hands'],
    ["J'aime bien ma belle-mère", "J'adore ma belle-mère"],
    ['我比较喜欢喝茶', '我非常喜欢喝茶'],
    ['Całkiem lubię jazz', 'Bardzo lubię jazz'],
    ['Çayı oldukça severim', 'Çayı çok severim'],
    ['Ik vind jazz wel leuk', 'Ik vind jazz echt leuk'],
  ])('keeps the same words apart where they go with others, however similar: %s | %s', (first, second) => {
    const options = { similarity: 1, mergeAbove };
    expect(comparePair(draft(first), draft(second), options).isTwin).toBe(false);
    expect(comparePair(draft(second), draft(first), options).isTwin).toBe(false);
  });

  it.each([
    ['I applied for the job at Acme', 'I got the job at Acme'],
    ['I will marry Hugo', 'I married Hugo'],
    ['I am going to visit Tokyo', 'I visited Tokyo'],
    ['We are launching the app', 'We launched the app'],
    ['I am learning Russian', 'I learned Russian'],
    ['Voy a vender mi coche', 'He vendido mi coche'],
    ['I am thinking about moving to Oslo', 'I moved to Oslo'],
    ['I broke up with Tom', 'I got together with Tom'],
    ['Ich habe die Prüfung bestanden', 'Ich bin durch die Prüfung gefallen'],
    ['I am recovering from surgery', 'I am waiting for surgery'],
    ['I am allergic to cats', 'I am allergic to cat food'],
  ])('keeps a plan and its outcome apart, and one object and another: %s | %s', async (first, second) => {
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const)
      expect(comparePair(draft(one), draft(other), { similarity: 1, mergeAbove }).isTwin).toBe(false);
  });

  async function mergedOf(pairs: readonly MergingPair[], isMeasured: boolean): Promise<readonly string[]> {
    const merged = await Promise.all(
      pairs.map(async (pair) => ((await compared(pair, isMeasured)).isTwin ? [`${pair.first} | ${pair.second}`] : [])),
    );
    return merged.flat();
  }
});

const bothOrders = (pairs: readonly MergingPair[]): readonly MergingPair[] => [
  ...pairs,
  ...pairs.map((pair) => ({ ...pair, first: pair.second, second: pair.first })),
];
