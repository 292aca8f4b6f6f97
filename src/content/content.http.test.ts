import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { contentLanguages } from '#platform/language.ts';
import { type Answer, type ContentRig, startContent } from '../../test/content/cms.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';

let database: Database;
let rig: ContentRig;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());
// Each test has its own service, because bodies are cached and breakers have state.
beforeEach(async () => {
  rig = await startContent(database);
});
afterEach(() => rig.close());

const emptyAnnouncement = { announcement: '', url: '', visible: false, title: '', description: '', imageUrl: '' };
const emptyAnswers = {
  '/op/announcement': emptyAnnouncement,
  '/op/homecards/v2': { cards: [], featuredCardIds: [] },
  '/op/trending': { items: [] },
};
const paths = Object.entries(emptyAnswers);

async function shown(path: string, body: unknown, language?: string): Promise<unknown> {
  rig.say(body);
  const response = await rig.get(path, language === undefined ? {} : { 'accept-language': language });
  expect(response.status).toBe(200);
  return response.json();
}

const json = (status: number, body: string, headers: Record<string, string> = {}): Answer => {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};

describe('a CMS that fails', () => {
  const good = '{"visible":true,"title_en":"Hi","cards":[],"items":[]}';
  const failures: [string, Answer][] = [
    ['404', json(404, good)],
    ['500', json(500, good)],
    ['503', json(503, good)],
    ['201', json(201, good)],
    ['204', (response) => response.writeHead(204).end()],
    ['a redirect', json(302, good, { location: '/elsewhere' })],
    ['a redirect that stays', json(301, good, { location: '/api/cached/announcements' })],
    ['no JSON', json(200, '<html>')],
    ['an empty body', json(200, '')],
    ['half a body', json(200, good.slice(0, 20))],
    ['an array', json(200, '[]')],
    ['null', json(200, 'null')],
    ['a text', json(200, '"visible"')],
    ['a body of the wrong shape', json(200, '{"visible":"yes","cards":"none","items":{}}')],
    ['a body that is too large', json(200, `{"title":"${'x'.repeat(5_000_000)}"}`)],
    ['a closed connection', (response) => response.destroy()],
    [
      'a body that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write(good);
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ];
  it.each(paths.flatMap(([path, empty]) => failures.map(([name, answer]) => ({ path, empty, name, answer }))))(
    '$path with $name: the empty answer',
    async ({ path, empty, answer }) => {
      rig.answer(answer);
      const response = await rig.get(path);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(empty);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('vary')).toBe('Accept-Language');
      expect(await (await rig.get('/metrics')).text()).toMatch(/content_upstream_failures_total\{[^}]*\} 1\n/);
    },
  );

  it('receives one request for 200 concurrent readers, who get a response when their time is up', async () => {
    // The head comes, the body never ends.
    rig.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"visible":');
    });
    const answers = await Promise.all(Array.from({ length: 200 }, () => rig.get('/op/announcement')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(Array(200).fill(emptyAnnouncement));
    expect(rig.calls()).toBe(1);
  });

  it('is read again once it has recovered', async () => {
    rig.answer(json(500, ''));
    expect(await (await rig.get('/op/trending')).json()).toEqual({ items: [] });
    expect(await shown('/op/trending', { items: [{ title: 'Back' }] })).toMatchObject({ items: [{ title: 'Back' }] });
  });

  it('is not called for a while after several failures in a row, then retried', async () => {
    rig.answer((response) => response.destroy());
    for (let turn = 0; turn < 8; turn += 1) await rig.get('/op/trending');
    const before = rig.calls();
    rig.say({ items: [{ title: 'Back' }] });
    expect(await (await rig.get('/op/trending')).json()).toEqual({ items: [] });
    expect(rig.calls()).toBe(before);
    await expect
      .poll(async () => (await rig.get('/op/trending')).json(), { timeout: 10_000, interval: 200 })
      .toMatchObject({ items: [{ title: 'Back' }] });
  });
});

describe('a body of the CMS', () => {
  it('is read once for concurrent requests, and soon again', async () => {
    rig.say({ visible: true, title: 'One' });
    const answers = await Promise.all(
      contentLanguages.map((language) => rig.get('/op/announcement', { 'accept-language': language })),
    );
    expect(answers.map(({ status }) => status)).toEqual(contentLanguages.map(() => 200));
    expect(rig.calls()).toBe(1);
    rig.say({ visible: true, title: 'Two' });
    await expect
      .poll(async () => (await rig.get('/op/announcement')).json(), { timeout: 2000 })
      .toMatchObject({ title: 'Two' });
  });

  it.each(['/op/announcement', '/op/homecards/v2', '/op/trending'])(
    'of %s has a validator for each language',
    async (path) => {
      rig.say({
        visible: true,
        title_en: 'Hello',
        title_de: 'Hallo',
        cards: [],
        items: [{ title_en: 'Hello', title_de: 'Hallo' }],
      });
      const { headers } = await rig.get(path);
      expect(headers.get('vary')).toBe('Accept-Language');
      expect(headers.get('cache-control')).toBe('public, max-age=60, stale-while-revalidate=600');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      const etag = headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const again = await rig.get(path, { 'if-none-match': known });
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
        expect(again.headers.get('cache-control')).toContain('max-age=60');
      }
      expect((await rig.get(path, { 'if-none-match': '"x"' })).status).toBe(200);
      const german = await rig.get(path, { 'if-none-match': etag, 'accept-language': 'de' });
      expect(german.status).toBe(path === '/op/homecards/v2' ? 304 : 200);
    },
  );

  it.each<[string, Record<string, string>, (body: string) => Buffer]>([
    ['with a byte order mark', {}, (body) => Buffer.from(`\ufeff${body}`)],
    ['in gzip that was not requested', { 'content-encoding': 'gzip' }, (body) => gzipSync(body)],
    ['in gzip without a header', {}, (body) => gzipSync(`\ufeff${body}`)],
    ['in brotli', { 'content-encoding': 'br' }, (body) => brotliCompressSync(body)],
    ['in deflate', { 'content-encoding': 'deflate' }, (body) => deflateSync(body)],
  ])('is read %s', async (_name, headers, encode) => {
    const body = encode(JSON.stringify({ items: [{ title: 'Hello' }] }));
    rig.answer((response) => response.writeHead(200, headers).end(body));
    expect(await (await rig.get('/op/trending')).json()).toMatchObject({ items: [{ title: 'Hello' }] });
  });

  it('of more than 4 MiB when it is unpacked is a failure', async () => {
    rig.answer((response) => response.writeHead(200).end(gzipSync(JSON.stringify({ items: [' '.repeat(5_000_000)] }))));
    const response = await rig.get('/op/trending');
    expect([await response.json(), response.headers.get('cache-control')]).toEqual([{ items: [] }, 'no-store']);
  });

  it('is requested without a credential of the reader', async () => {
    const seen: (string | undefined)[] = [];
    rig.answer((response, request) => {
      seen.push(request.headers.authorization, request.headers.cookie, request.url);
      json(200, '{}')(response, request);
    });
    await rig.get('/op/trending', { authorization: 'Bearer secret', cookie: 'a=b' });
    expect(seen).toEqual([undefined, undefined, '/api/cached/trending']);
  });
});

it.each(['/op/announcement', '/op/homecards/v2', '/op/trending'])(
  '%s takes a document without any of its fields for a failure',
  async (path) => {
    rig.say({ data: { visible: true, title: 'Hello', cards: [], items: [] } });
    expect((await rig.get(path)).headers.get('cache-control')).toBe('no-store');
  },
);

it.each([
  ['de-AT,de;q=0.9', 'de'],
  ['zh-Hant', 'zh-TW'],
  [undefined, 'en'],
])('a response to %s names its language', async (accepted, language) => {
  rig.say({ items: [] });
  const { headers } = await rig.get('/op/trending', accepted === undefined ? {} : { 'accept-language': accepted });
  expect(headers.get('content-language')).toBe(language);
});

describe('GET /op/announcement', () => {
  const texts = {
    visible: true,
    url: 'https://example.com/a',
    title_en: 'Hello',
    title_de: 'Hallo',
    title_zh_TW: '你好',
    title_fr: '',
    title_it: null,
    description: 'bare',
    imageUrl_en: 'https://example.com/en.png',
    imageUrl_ja: 'https://example.com/ja.png',
  };
  it.each([
    [undefined, 'Hello', 'https://example.com/en.png'],
    ['de-AT', 'Hallo', 'https://example.com/en.png'],
    ['zh-HK', '你好', 'https://example.com/en.png'],
    ['zh-CN', 'Hello', 'https://example.com/en.png'],
    ['fr', 'Hello', 'https://example.com/en.png'],
    ['it', 'Hello', 'https://example.com/en.png'],
    ['ja', 'Hello', 'https://example.com/ja.png'],
  ])('in %s', async (language, title, imageUrl) => {
    expect(await shown('/op/announcement', texts, language)).toEqual({
      announcement: title,
      title,
      url: 'https://example.com/a',
      visible: true,
      description: 'bare',
      imageUrl,
    });
  });

  it.each([
    ['not visible', { ...texts, visible: false }],
    ['visible is null', { ...texts, visible: null }],
    ['visible is left out', { title_en: 'Hello' }],
    ['a visible of another type', { ...texts, visible: 1 }],
  ])('%s: all of it is empty', async (_name, body) => {
    expect(await shown('/op/announcement', body)).toEqual(emptyAnnouncement);
  });

  it('treats a text of another type as missing, in its language only', async () => {
    const bad = { ...texts, title_ru: 5, title_de: {} };
    for (const [language, title] of [
      ['ru', 'Hello'],
      ['de', 'Hello'],
      ['zh-TW', '你好'],
    ] as const)
      expect(await shown('/op/announcement', bad, language)).toMatchObject({ visible: true, title });
  });

  it('returns empty texts for missing ones', async () => {
    expect(await shown('/op/announcement', { visible: true })).toEqual({ ...emptyAnnouncement, visible: true });
  });
});

describe('cards with numbers as ids', () => {
  it('are shown, and featured', async () => {
    const body = {
      cards: [{ id: 7 }, { id: 'a' }, { id: 8, mediaType: 'audio' }, { id: 1.5 }],
      featuredCardIds: [7, 8, 'a', null],
    };
    const { cards, featuredCardIds } = (await shown('/op/homecards/v2', body)) as {
      cards: { id: string }[];
      featuredCardIds: string[];
    };
    expect([cards.map(({ id }) => id), featuredCardIds]).toEqual([
      ['7', 'a'],
      ['7', 'a'],
    ]);
  });
});

describe('GET /op/homecards/v2', () => {
  const bare = {
    id: 'a',
    coverType: 'image',
    image: '',
    coverVideo: '',
    arcadeLink: '',
    mobileArcadeLink: '',
    requiredPlan: 'free',
    title: '',
    description: '',
    prompt: '',
    isFeatured: false,
    model: 'lite',
    ratio: 'auto',
    mediaType: 'image',
    inputMedias: [],
  };
  const cardsOf = async (cards: unknown, language?: string) =>
    ((await shown('/op/homecards/v2', { cards }, language)) as { cards: unknown[] }).cards;

  it('shows every field, in the language of the reader', async () => {
    const card = {
      id: 'a',
      coverType: 'video',
      image_en: 'i-en',
      image_ko: 'i-ko',
      coverVideo_ko: 'v-ko',
      arcadeLink: 'arcade',
      mobileArcadeLink: 'mobile',
      requiredPlan: 'max_year',
      title_en: 't-en',
      description_ko: 'd-ko',
      prompt: 'p',
      isFeatured: true,
      model: 'ultra',
      ratio: '9:16',
      mediaType: 'video',
      inputMedias: [
        { type: 'image', url: 'one' },
        { type: 'video', url_ko: 'zwei', url: 'two' },
      ],
      unknown: 'left out',
    };
    const common = {
      id: 'a',
      coverType: 'video',
      arcadeLink: 'arcade',
      mobileArcadeLink: 'mobile',
      requiredPlan: 'max_year',
      title: 't-en',
      prompt: 'p',
      isFeatured: true,
      model: 'ultra',
      ratio: '9:16',
      mediaType: 'video',
    };
    const input = (url: string) => [
      { type: 'image', url: 'one' },
      { type: 'video', url },
    ];
    expect(await cardsOf([card], 'ko')).toEqual([
      { ...common, image: 'i-ko', coverVideo: 'v-ko', description: 'd-ko', inputMedias: input('zwei') },
    ]);
    expect(await cardsOf([card], 'nl')).toEqual([
      { ...common, image: 'i-en', coverVideo: '', description: '', inputMedias: input('two') },
    ]);
  });

  it.each([
    ['absent fields', { id: 'a' }],
    [
      'null fields',
      { ...Object.fromEntries(Object.keys(bare).map((field) => [field, null])), id: 'a', title_en: null },
    ],
  ])('%s have their defaults', async (_name, card) => {
    expect(await cardsOf([card])).toEqual([bare]);
  });

  it.each([
    ['an audio cover', { id: 'b', coverType: 'audio' }],
    ['audio', { id: 'b', mediaType: 'audio' }],
    ['an unknown plan', { id: 'b', requiredPlan: 'gold' }],
    ['an unknown model', { id: 'b', model: 'lite2' }],
    ['an unknown ratio', { id: 'b', ratio: '2:1' }],
    ['an unknown cover', { id: 'b', coverType: 'Image' }],
    ['an isFeatured of another type', { id: 'b', isFeatured: 'yes' }],
    ['inputMedias of another type', { id: 'b', inputMedias: 'none' }],
    ['an id of another type', { id: true }],
    ['no id', { title: 'x' }],
    ['no object', 'card'],
    ['null', null],
    ['an array', []],
  ])('drops only the card with %s', async (_name, card) => {
    const answer = await shown('/op/homecards/v2', {
      cards: [{ id: 'a' }, card, { id: 'c' }],
      featuredCardIds: ['a', 'b', 'c', 'not among the cards', true],
    });
    const isNamed = (card as { id?: unknown } | null)?.id === 'b';
    expect(answer).toEqual({
      cards: [bare, { ...bare, id: 'c' }],
      featuredCardIds: ['a', ...(isNamed ? [] : ['b']), 'c', 'not among the cards'],
    });
  });

  it('treats a text of another type as missing', async () => {
    expect(await cardsOf([{ id: 'a', title_fr: 5, title_en: 'Hello' }], 'fr')).toEqual([{ ...bare, title: 'Hello' }]);
  });

  it('drops single entries of inputMedias', async () => {
    const inputMedias = [{ type: 'audio', url: 'x' }, { type: 'film', url: 'x' }, 'x', null, { url: 'kept' }];
    expect(await cardsOf([{ id: 'a', inputMedias }])).toEqual([
      { ...bare, inputMedias: [{ type: 'image', url: 'kept' }] },
    ]);
  });

  it.each([{}, { cards: null, featuredCardIds: null }])('%j: nothing', async (body) => {
    expect(await shown('/op/homecards/v2', body)).toEqual({ cards: [], featuredCardIds: [] });
  });
});

describe('GET /op/trending', () => {
  it.each([
    ['de', { title_de: 'Titel', title: 'Title', url_de: 'u-de' }, { title: 'Titel', url: 'u-de', cover: '' }],
    ['fr', { title_de: 'Titel', title: 'Title', url_en: 'u-en' }, { title: 'Title', url: 'u-en', cover: '' }],
    ['en', { imageCover: 'i', videoCover: 'v' }, { title: '', url: '', cover: 'i' }],
    ['en', { coverType: 'video', imageCover: 'i', videoCover: 'v' }, { title: '', url: '', cover: 'v' }],
    ['ja', { coverType: 'video', imageCover: 'i', videoCover_en: 'v' }, { title: '', url: '', cover: 'v' }],
    ['ja', { coverType: 'video', imageCover: 'i' }, { title: '', url: '', cover: '' }],
  ])('in %s: %j', async (language, item, expected) => {
    const coverType = 'coverType' in item ? item.coverType : 'image';
    expect(await shown('/op/trending', { items: [item] }, language)).toEqual({ items: [{ coverType, ...expected }] });
  });

  it('drops only audio and invalid entries', async () => {
    const items = [{ coverType: 'audio' }, { coverType: 'gif' }, null, 'x', { title: 'kept' }];
    expect(await shown('/op/trending', { items })).toEqual({
      items: [{ title: 'kept', coverType: 'image', cover: '', url: '' }],
    });
  });
});
